"""Migration operations that make a table a tenant's: row security, composite references, append only."""

from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


def app_role() -> str:
    """The role that web and worker processes log in as, quoted."""
    return quote(str(connections[DEFAULT_DB_ALIAS].settings_dict["USER"]))


def quote(name: str) -> str:
    """The name as a PostgreSQL identifier."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


class SQLOperation(Operation):
    """An operation that is SQL both ways and changes no model."""

    reversible = True
    reduces_to_sql = True

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Nothing changes in what Django knows of the models."""

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:
        """The statements that apply the operation."""
        raise NotImplementedError

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        """The statements that undo it."""
        raise NotImplementedError

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Run the statements."""
        _run(schema_editor, self.forwards(app_label, to_state))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Run the statements that undo it."""
        _run(schema_editor, self.backwards(app_label, from_state))


class EnableTenantRLS(SQLOperation):
    """Force row security on the model's table, with the tenant's policy and the owner's."""

    def __init__(self, model: str) -> None:
        self.model = model

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:
        table = _table(state, app_label, self.model)
        mine = "tenant_id = (SELECT app_tenant())"
        return [
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY tenant ON {table} USING ({mine}) WITH CHECK ({mine})",
            f"CREATE POLICY owner ON {table} TO CURRENT_USER USING (true) WITH CHECK (true)",
        ]

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        table = _table(state, app_label, self.model)
        return [
            f"DROP POLICY owner ON {table}",
            f"DROP POLICY tenant ON {table}",
            f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
        ]

    def describe(self) -> str:
        return f"Force row security on {self.model}"


class CompositeForeignKey(SQLOperation):
    """Let `field` of `model` refer to (tenant, id) of `target`, an "app.Model" or a model of this app.

    The Django field is declared with `db_constraint=False`: PostgreSQL checks references past row
    security, so a plain one could point into another tenant.
    """

    def __init__(self, model: str, field: str, target: str) -> None:
        self.model = model
        self.field = field
        self.target = target

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:
        table, name = _table(state, app_label, self.model), self._name(app_label, state)
        other_app, _, other = self.target.rpartition(".")
        target = _table(state, other_app or app_label, other)
        column = quote(str(_field(state, app_label, self.model, self.field).column))
        return [
            (
                f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (tenant_id, {column})"
                f" REFERENCES {target} (tenant_id, id) DEFERRABLE INITIALLY DEFERRED"
            )
        ]

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        table, name = _table(state, app_label, self.model), self._name(app_label, state)
        return [f"ALTER TABLE {table} DROP CONSTRAINT {name}"]

    def describe(self) -> str:
        return f"Let {self.model}.{self.field} refer within its tenant"

    def _name(self, app_label: str, state: ProjectState) -> str:
        table = state.apps.get_model(app_label, self.model)._meta.db_table
        return quote(f"{table[:40]}_{self.field[:20]}_ft")


class AppendOnly(SQLOperation):
    """Let the application's role insert and read the model's table and nothing more.

    A trigger refuses every change as well. With `purge` the owner's functions may delete whole rows,
    with `blank` they may empty the column of that name.
    """

    def __init__(self, model: str, *, purge: bool = False, blank: str | None = None) -> None:
        self.model = model
        self.purge = purge
        self.blank = blank

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:
        table = _table(state, app_label, self.model)
        allowed = ("purge" if self.purge else "") + (self.blank or "")
        return [
            f"REVOKE UPDATE, DELETE ON {table} FROM {app_role()}",
            (
                f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}"
                f" FOR EACH ROW EXECUTE FUNCTION append_only('{allowed}')"
            ),
        ]

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        table = _table(state, app_label, self.model)
        return [f"DROP TRIGGER append_only ON {table}", f"GRANT UPDATE, DELETE ON {table} TO {app_role()}"]

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__qualname__, [self.model], {"purge": self.purge, "blank": self.blank}

    def describe(self) -> str:
        return f"Let {self.model} only grow"


class OwnerFunction(SQLOperation):
    """Install a SECURITY DEFINER function, a door across tenants, which only the application may call.

    `signature` is `name(types)`; `sql` is its whole CREATE FUNCTION statement.
    """

    def __init__(self, signature: str, sql: str) -> None:
        self.signature = signature
        self.sql = sql

    def forwards(self, app_label: str, state: ProjectState) -> list[str]:
        return [
            self.sql,
            f"REVOKE ALL ON FUNCTION {self.signature} FROM PUBLIC",
            f"GRANT EXECUTE ON FUNCTION {self.signature} TO {app_role()}",
        ]

    def backwards(self, app_label: str, state: ProjectState) -> list[str]:
        return [f"DROP FUNCTION {self.signature}"]

    def describe(self) -> str:
        return f"Install the owner's function {self.signature}"


def _run(schema_editor: BaseDatabaseSchemaEditor, statements: list[str]) -> None:
    for statement in statements:
        # Without parameters no percent sign is a placeholder.
        schema_editor.execute(statement, params=None)


def _table(state: ProjectState, app_label: str, model: str) -> str:
    return quote(state.apps.get_model(app_label, model)._meta.db_table)


def _field(state: ProjectState, app_label: str, model: str, field: str) -> "models.Field[Any, Any]":
    found = state.apps.get_model(app_label, model)._meta.get_field(field)
    return cast("models.Field[Any, Any]", found)
