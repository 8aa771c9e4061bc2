"""What no source may say: a tenant set past the scope, a trigger switched off, a clock in an id."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for floor in ("config", "runs", "approvals", "tenants")
    for kind in ("*.py", "*.sql")
    for path in sorted((ROOT / floor).rglob(kind))
    if path.name != "prepared.sql"  # What the other sources make of an empty database; a test holds it against them.
]

FORBIDDEN = {
    r"(?i)\bSET\s+(SESSION\s+|LOCAL\s+)?app\.tenant": "a tenant set past tenants.scope",
    r"(?i)set_config\('app\.tenant'[^)]*,\s*false\)": "a tenant that the next user of the connection would see",
    r"(?i)set_config\([^)]*,\s*false\)": "a setting that outlives its transaction",
    r"pgtrigger\.ignore|from pgtrigger import ignore": "a trigger switched off",
    r"session_replication_role": "triggers switched off",
    r"(?i)DISABLE TRIGGER": "a trigger switched off",
    r"ATOMIC_REQUESTS": "a transaction around a whole request",
    r"\bTRUNCATE\s+(?:TABLE\s+)?[\w{\"%]": "a truncation: row security does not hold for it",
}


@pytest.mark.parametrize("pattern", FORBIDDEN, ids=list(FORBIDDEN.values()))
def test_no_source_holds(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(pattern, line) and not line.lstrip().startswith(("#", '"""', "--"))
    ]
    assert found == []


def test_only_the_scope_and_the_journal_set_the_tenant() -> None:
    """The journal's functions set it for their own transaction, since each is one round trip."""
    found = {
        str(path.relative_to(ROOT)) for path in SOURCES if re.search(r"set_config\(\s*'app\.tenant'", path.read_text())
    }
    assert {path for path in found if not path.startswith("runs/sql/")} <= {
        "tenants/scope.py",
        *(path for path in found if path.startswith("runs/migrations/")),
    }
