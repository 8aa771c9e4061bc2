"""What a stranger tries: every route of the house, with every id of the other tenant."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db import connections
from django.urls import URLPattern, URLResolver, get_resolver

from tenants.guard import tenant_tables

PAGE_METHODS = ("GET", "POST")
METHODS = (*PAGE_METHODS, "PUT", "PATCH", "DELETE")
WORDS = {"name": "refund-desk", "seq": "1", "channel": "chat", "level": "1"}
"""What stands in an address for a part that is no id."""


@dataclass(frozen=True)
class Address:
    """A pattern of an address: its text with `{part}` for each part, and which of them are ids."""

    text: str
    parts: tuple[str, ...]

    def holds_an_id(self) -> bool:
        return not set(self.parts) <= {*WORDS, "slug", "tenant"}

    def at(self, key: object, **fixed: str) -> str:
        """The address with this id in the place of every part that is one."""
        values = {part: fixed.get(part, WORDS.get(part, str(key))) for part in self.parts}
        return "/" + self.text.format(**values)


def addresses(prefix: str) -> list[Address]:
    """Every address of the house that begins so."""
    found = [each for each in _walk(get_resolver().url_patterns, "", ()) if each.text.startswith(prefix)]
    assert found, prefix
    return found


def _walk(patterns: list[Any], before: str, parts: tuple[str, ...]) -> Iterator[Address]:
    for pattern in patterns:
        text, names = _text(pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, before + text, parts + names)
        elif isinstance(pattern, URLPattern):
            yield Address(before + text, parts + names)


def _text(pattern: URLPattern | URLResolver) -> tuple[str, tuple[str, ...]]:
    text, names = str(pattern.pattern), tuple(pattern.pattern.converters)
    for name, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__.removesuffix("Converter").lower()
        for written in (
            f"<{name}>",
            f"<{kind}:{name}>",
            *(f"<{alias}:{name}>" for alias in ("uuid", "slug", "str", "int")),
        ):
            text = text.replace(written, "{" + name + "}")
    return text, names


def ids_of(tenant_id: object) -> dict[str, uuid.UUID]:
    """One id of each of the tenant's tables that holds a row, with the owner's eyes."""
    found = {}
    with connections["owner"].cursor() as cursor:
        for model in apps.get_models():
            table = model._meta.db_table
            if table in tenant_tables() and model._meta.pk.column == "id":
                cursor.execute(f"SELECT id FROM {table} WHERE tenant_id = %s ORDER BY id LIMIT 1", [tenant_id])
                row = cursor.fetchone()
                if row:
                    found[table] = row[0]
    return found


def contents(tenant_id: object) -> dict[str, str]:
    """A digest of each of the tenant's tables: what must be the same after the stranger left."""
    found = {}
    with connections["owner"].cursor() as cursor:
        for table in sorted(tenant_tables()):
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {table} t"
                " WHERE tenant_id = %s",
                [tenant_id],
            )
            found[table] = cursor.fetchone()[0]
    return found


def sample(schema: Any, document: Any) -> Any:
    """A smallest value that a JSON schema of the API's document takes, so that a body passes its validation."""
    if "$ref" in schema:
        return sample(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return sample(schema[choice][0], document)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type")
    if kind == "object":
        needed = schema.get("required", [])
        return {name: sample(part, document) for name, part in schema.get("properties", {}).items() if name in needed}
    if kind == "array":
        return [sample(schema["items"], document)] if schema.get("minItems") else []
    return {"string": "x", "integer": 1, "number": 1, "boolean": True}.get(kind)
