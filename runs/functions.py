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
    """The statements that put every function of these files in the place of what an earlier migration installed.

    One that keeps its shape is replaced and not dropped: a worker of the release before may be at it just now.
    """
    found = [each for file in files for each in re.split(r"^(?=CREATE FUNCTION )", text(file), flags=re.MULTILINE)[1:]]
    return [_anew(each) for each in found]


def _anew(create: str) -> str:
    name = create.removeprefix("CREATE FUNCTION ").partition("(")[0]
    return _ANEW.format(name=name, replace=create.replace("CREATE", "CREATE OR REPLACE", 1), create=create)


# The row of a function that was replaced lies elsewhere afterwards; one that lies where it lay has another shape.
_ANEW = """
DO $do$
DECLARE
  before tid[] := ARRAY(SELECT ctid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = '{name}');
  old regprocedure;
BEGIN
  BEGIN
    EXECUTE $new$ {replace} $new$;
  EXCEPTION WHEN invalid_function_definition THEN
    FOR old IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND ctid = ANY (before) LOOP
      EXECUTE 'DROP FUNCTION ' || old;
    END LOOP;
    EXECUTE $new$ {create} $new$;
  END;
  FOR old IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = '{name}'
                                       AND ctid = ANY (before) LOOP
    EXECUTE 'DROP FUNCTION ' || old;
  END LOOP;
END $do$
"""
