"""Outside a scope the application refuses queries on tenant tables, rather than see nothing in them."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from tenants import prepared
from tenants.errors import NoTenant
from tenants.scope import frames


def tenant_tables() -> set[str]:
    """The tables whose rows belong to a tenant: all with a column `tenant_id`."""
    models = apps.get_models(include_auto_created=True)
    return {
        model._meta.db_table
        for model in models
        if any(getattr(field, "column", None) == "tenant_id" for field in model._meta.local_fields)
    }


def refuse_outside(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Django's hook around each query; in a scope it only sends what was put off until the next one."""
    if frames():
        prepared.flush()
    else:
        found = _tables().search(str(sql))
        if found:
            raise NoTenant(f"{found.group(0)} was asked outside tenants.scope.scope(tenant).")
    return execute(sql, params, many, context)


def connect() -> None:
    """Put the guard on every connection that is made from now on."""
    connection_created.connect(install)


def install(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """On a new connection of the application's role; the owner's sees all tenants by right."""
    if connection.alias == DEFAULT_DB_ALIAS and refuse_outside not in connection.execute_wrappers:
        connection.execute_wrappers.append(refuse_outside)


@cache
def _tables() -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(sorted(tenant_tables())) + r")\b")
