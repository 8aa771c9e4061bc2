"""Keeps the catalogs: reads every message of templates and code, merges, compiles; `--check` only looks.

Pure Python (Babel), so that neither a developer nor a stranger needs GNU gettext. A catalog is complete when every
message has its translation, none is fuzzy, and the compiled file beside it is what compiling it now would give.
"""

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
CODE = ("approvals", "config", "runs", "tenants")
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "npgettext_lazy": ((1, "c"), 2, 3),
}


def sources() -> Iterator[tuple[Path, bytes]]:
    """Each file as Python that Babel can read; a template goes through Django's own reader of templates."""
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in {".html", ".txt"}:
            yield path, templatize(path.read_text(), origin=str(path)).encode()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, path.read_bytes()


def template_catalog() -> Catalog:
    catalog = Catalog(project="Vermilion", charset="utf-8")
    for path, content in sources():
        for _line, message, _comments, context in extract("python", io.BytesIO(content), KEYWORDS):
            catalog.add(message, locations=[(str(path.relative_to(ROOT)), 0)], context=context)
    return catalog


def merged(path: Path, found: Catalog) -> Catalog:
    language = path.parent.parent.name
    with path.open("rb") as file:
        catalog = read_po(file, locale=language)
    catalog.update(found, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def texts(catalog: Catalog) -> tuple[bytes, bytes]:
    """The catalog as `.po` and as `.mo`, without dates: the same messages give the same bytes."""
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    readable, compiled = io.BytesIO(), io.BytesIO()
    write_po(readable, catalog, width=110, sort_output=True, include_lineno=False, omit_header=False)
    write_mo(compiled, catalog)
    return readable.getvalue(), compiled.getvalue()


def missing(catalog: Catalog) -> list[str]:
    return [
        str(message.id)
        for message in catalog
        if message.id
        and (message.fuzzy or not message.string or (not isinstance(message.string, str) and not all(message.string)))
    ]


def main(*, check: bool) -> int:
    found, wrong = template_catalog(), 0
    for path in sorted((ROOT / "locale").rglob("django.po")):
        catalog = merged(path, found)
        readable, compiled = texts(catalog)
        binary = path.with_suffix(".mo")
        for message in missing(catalog):
            wrong += 1
            print(f"{path.relative_to(ROOT)}: not translated: {message}")
        if not check:
            path.write_bytes(readable)
            binary.write_bytes(compiled)
        elif readable != path.read_bytes() or not binary.exists() or compiled != binary.read_bytes():
            wrong += 1
            print(f"{path.relative_to(ROOT)}: not up to date; type: python locale/update.py")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(check="--check" in sys.argv[1:]))
