"""A model's rows through prepared statements: what the ORM would give, without its composing a query each time."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.base import ModelState
from psycopg.pq.abc import PGresult

from tenants import actors, exact_json, prepared
from tenants.fields import ActorField, ExactJSONField, HexField

M = TypeVar("M", bound=models.Model)


def new(model: type[M], **values: Any) -> M:
    """A row that is to be written, of a value for each attribute; the model's own making looks at every one of them."""
    row = model.__new__(model)
    vars(row).update(values, _state=ModelState())
    return row


class Columns(Generic[M]):
    """A model's columns of the table that is called `alias` in a query, and the row that their values make; with `only`
    none but these."""

    def __init__(self, model: type[M], alias: str, *, only: Collection[str] | None = None) -> None:
        fields = [field for field in model._meta.concrete_fields if only is None or field.attname in only]
        self.model = model
        self.names = [field.attname for field in fields]
        self.texts = [
            f'{alias}."{field.column}"' + ("::text" if isinstance(field, ExactJSONField) else "") for field in fields
        ]
        self._read = [(field.attname, read) for field in fields if (read := _reader(field))]

    def made(self, found: Sequence[Any]) -> M:
        """The row of these values, which may be followed by others; as `from_db`, which sets each by itself."""
        row = self.model.__new__(self.model)
        state, held = ModelState(), vars(row)
        state.adding, state.db = False, DEFAULT_DB_ALIAS
        held["_state"] = state
        held.update(zip(self.names, found, strict=False))
        for name, read in self._read:
            if held[name] is not None:
                held[name] = read(held[name])
        return row


class Rows(Generic[M]):
    """The rows of `model` for which `where` holds, whose values are `$1`, `$2` … and must be cast there.

    `also` are expressions read beside each row, which becomes `r`; row security keeps to the tenant in scope. With
    `only` no other attributes are read.
    """

    def __init__(
        self, model: type[M], where: str, *, also: Sequence[str] = (), only: Collection[str] | None = None
    ) -> None:
        self.columns = Columns(model, "r", only=only)
        table, wanted = model._meta.db_table, ", ".join([*self.columns.texts, *also])
        self.query = f'SELECT {wanted} FROM "{table}" r WHERE {where}'  # noqa: S608  # All ours.

    def all(self, *values: prepared.Value) -> list[M]:
        """Every row that is found."""
        return [row for row, *_also in self.beside(*values)]

    def first(self, *values: prepared.Value) -> M | None:
        """The first row that is found, if any."""
        return next(iter(self.all(*values)), None)

    def beside(self, *values: prepared.Value) -> list[tuple[Any, ...]]:
        """Every row that is found, each with what is read beside it."""
        return self.told(prepared.run(self.query, values))

    def question(self, *values: prepared.Value) -> prepared.Question:
        """What is asked for them, for `prepared.several`."""
        return self.query, values

    def told(self, result: PGresult) -> list[tuple[Any, ...]]:
        """The rows of an answer to `question`, each with what is read beside it."""
        return prepared.read(result, self._made)

    def _made(self, found: Sequence[Any]) -> tuple[Any, ...]:
        return (self.columns.made(found), *found[len(self.columns.names) :])


def _reader(field: "models.Field[Any, Any]") -> Callable[[Any], Any] | None:
    """What a value of this field is read by, where PostgreSQL's own is not what Python holds."""
    if isinstance(field, ActorField):
        return lambda text: actors.unpacked(exact_json.loads(text))
    if isinstance(field, HexField):
        return bytes.hex
    return exact_json.loads if isinstance(field, ExactJSONField) else None
