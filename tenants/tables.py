"""A migration takes the tables it changes together or not at all: it and whoever is at work never wait in a circle."""

from collections.abc import Sequence

from django.db.migrations.state import ProjectState

from tenants.rls import SQLOperation, quote

# Every wait ends well before PostgreSQL looks for a circle, which it does after a second, and would end either side.
_TAKE = """
DO $$
DECLARE
  told text := current_setting('lock_timeout');
BEGIN
  FOR try IN 1..600 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', '200ms', true);
      LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE;
      PERFORM set_config('lock_timeout', told, true);
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1);
    END;
  END LOOP;
  RAISE EXCEPTION 'the tables are in use all the time: end what is at work, and migrate again'
    USING ERRCODE = 'lock_not_available';
END $$
"""


class TakeTables(SQLOperation):
    """Take these tables for the rest of the migration; those at work wait for it, and it for none that waits for it."""

    def __init__(self, *tables: str) -> None:
        self.tables: Sequence[str] = tables

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:  # noqa: ARG002  Theirs.
        """The statement that takes them."""
        return [_TAKE.format(tables=", ".join(quote(each) for each in self.tables))]

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        """As forwards."""
        return self.forwards(app_label, state)

    def describe(self) -> str:
        return f"Take {', '.join(self.tables)}"
