"""The journal's SQL functions, as they stand in `runs/sql`."""

import re
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent / "sql"
FILES = ("facts", "steps", "leases", "runs", "holder", "reading", "boundary")


def text(name: str) -> str:
    """The SQL of one file of `runs/sql`."""
    return (FOLDER / f"{name}.sql").read_text()


def drop() -> str:
    """The statement that drops every function of all files."""
    found = [name for file in FILES for name in re.findall(r"^CREATE FUNCTION (\w+)", text(file), re.MULTILINE)]
    return "DROP FUNCTION " + ", ".join(reversed(found))


def one(name: str, function: str) -> str:
    """The statement of one function of a file."""
    found = re.search(rf"^CREATE FUNCTION {function}\(.*?^\$\$", text(name), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(0)


def anew(files: Sequence[str] = FILES) -> list[str]:
    """The statements that put every function of these files in the place of what an earlier migration installed."""
    names = re.findall(r"^CREATE FUNCTION (\w+)", "".join(text(name) for name in files), re.MULTILINE)
    return [_DROP_OLD.format(names=", ".join(f"'{name}'" for name in names)), *(text(name) for name in files)]


_DROP_OLD = """
DO $do$
DECLARE
  old regprocedure;
BEGIN
  FOR old IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname IN ({names}) LOOP
    EXECUTE 'DROP FUNCTION ' || old;
  END LOOP;
END $do$
"""
