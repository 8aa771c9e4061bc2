"""Two questions of an operator's machine: is the process alive, and can it do its work?"""

from collections.abc import Callable

from django.core.cache import cache
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from config.celery import app


def healthz(_request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers at all."""
    return JsonResponse({"status": "ok"})


def no_icon(_request: HttpRequest) -> HttpResponse:
    """Browsers ask for `/favicon.ico` where no page names an icon; pages do, the answers above do not."""
    return HttpResponse(status=204)


def database_answers() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT 1")


def missing_migrations() -> int:
    """How many migrations the database lacks."""
    executor = MigrationExecutor(connections["default"])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrations_are_applied() -> None:
    if missing := missing_migrations():
        raise LookupError(f"{missing} migrations are not applied")


def broker_answers() -> None:
    with app.connection_for_write(connect_timeout=1) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0)


def cache_answers() -> None:
    cache.get("readyz")


CHECKS: dict[str, Callable[[], None]] = {
    "database": database_answers,
    "migrations": migrations_are_applied,
    "broker": broker_answers,
    "cache": cache_answers,
}


def _state(check: Callable[[], None]) -> str:
    try:
        check()
    except LookupError as missing:
        return str(missing)
    except (DatabaseError, BrokerError, RedisError, OSError):
        return "does not answer"
    return "ok"


def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when database, migrations, broker and cache are in order; else 503 and which is not."""
    found = {name: _state(check) for name, check in CHECKS.items()}
    ready = all(state == "ok" for state in found.values())
    return JsonResponse({"status": "ok" if ready else "not ready", "checks": found}, status=200 if ready else 503)
