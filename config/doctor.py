"""What a healthy installation has, asked one thing at a time."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connection
from django.db.models import QuerySet
from django.db.models.functions import Now
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError

from config import agent_modules, health
from config.local.postgres import OWNER, roles
from runs.announcing import REPEATS, pause
from runs.models import AgentVersion, WorkerSeen

ROLE = "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user"
OWNED = "SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE r.rolname = current_user"
CAN_TRUNCATE = (
    "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
    " AND has_table_privilege(oid, 'TRUNCATE')"
)
SKEW = "SELECT (extract(epoch FROM clock_timestamp()) - %s)::float"
LEAST_FREE = 1 << 30  # bytes
MOST_SKEW = 5.0  # seconds


class Wrong(Exception):
    """A finding, with what to do about it."""


@dataclass(frozen=True)
class Finding:
    """One question and its answer."""

    question: str
    answer: str
    wrong: bool


def _one(query: str, *values: float) -> tuple[object, ...]:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        row: tuple[object, ...] = cursor.fetchone() or ()
        return row


def python() -> str:
    return f"{sys.version.split()[0]} in {sys.prefix}"


def postgresql() -> str:
    (version,) = _one("SELECT current_setting('server_version_num')::int")
    if int(str(version)) < 150000:
        raise Wrong(f"version {version} is older than 15")
    return f"version {int(str(version)) // 10000}, database {settings.DATABASES['default']['NAME']}"


def role() -> str:
    name = settings.DATABASES["default"]["USER"]
    if any(_one(ROLE)):
        raise Wrong(f"{name} may more than read and write rows; `doctor --sql` prints what it should be")
    if _one(OWNED) != (0,):
        raise Wrong(f"{name} owns tables, so row security does not bind it; migrate as another role")
    if _one(CAN_TRUNCATE) != (0,):
        raise Wrong(f"{name} may TRUNCATE, which row security does not see; revoke that")
    return f"{name} owns nothing and bypasses nothing"


def migrations() -> str:
    if lacking := health.missing_migrations():
        raise Wrong(f"{lacking} are missing; run: python manage.py migrate")
    return "all applied"


def clock() -> str:
    """Leases and deadlines go by the database's clock, logs by this machine's."""
    (skew,) = _one(SKEW, time.time())
    if abs(float(str(skew))) > MOST_SKEW:
        raise Wrong(f"this machine and the database are {float(str(skew)):.1f} s apart; synchronise them")
    return "this machine and the database agree"


def broker() -> str:
    health.broker_answers()
    return "answers"


def cache() -> str:
    health.cache_answers()
    return "answers"


def modules() -> str:
    """What this command's environment names; that of the workers may name others."""
    if told := agent_modules.trouble():
        raise Wrong(told)
    return ", ".join(settings.AGENT_MODULES) or "this environment names none; the workers' own counts"


def agents() -> str:
    """What workers say that they know, wherever they run."""
    live = _versions(AgentVersion.objects.filter(known_until__gt=Now()))
    if live:
        workers = WorkerSeen.objects.filter(until__gt=Now()).count()
        within = f"heard of within {REPEATS * pause():.0f} s"
        return f"{live}; {workers} worker{'' if workers == 1 else 's'} {within}"
    if gone := _versions(AgentVersion.objects.all()):
        raise Wrong(
            f"no worker that knows one is at work; {gone} wait for one: python manage.py up, with AGENT_MODULES"
        )
    return "no worker has ever said that it knows one; name modules in AGENT_MODULES of the workers and start them"


def _versions(rows: "QuerySet[AgentVersion]") -> str:
    return ", ".join(f"{row.agent} {row.version}" for row in rows.order_by("agent", "version"))


def disk() -> str:
    here = next(path for path in (Path(settings.LOCAL_DIR), *Path(settings.LOCAL_DIR).parents) if path.exists())
    free = shutil.disk_usage(here).free
    if free < LEAST_FREE:
        raise Wrong(f"{free >> 20} MiB are free below {here}; PostgreSQL stops when none are")
    return f"{free >> 30} GiB free below {here}"


QUESTIONS: dict[str, Callable[[], str]] = {
    "Python": python,
    "PostgreSQL": postgresql,
    "application's role": role,
    "migrations": migrations,
    "clock": clock,
    "broker": broker,
    "cache and bell": cache,
    "agent modules": modules,
    "agents": agents,
    "disk": disk,
}


def examine() -> Iterator[Finding]:
    """Every question with its answer, none of which stops the next."""
    for question, ask in QUESTIONS.items():
        try:
            yield Finding(question, ask(), wrong=False)
        except Wrong as wrong:
            yield Finding(question, str(wrong), wrong=True)
        except ProgrammingError:
            yield Finding(question, "cannot be asked before all migrations are applied", wrong=True)
        except (DatabaseError, BrokerError, RedisError, OSError):
            yield Finding(question, "does not answer; start it with: python manage.py up", wrong=True)


def statements() -> str:
    """The SQL that an administrator of PostgreSQL runs once, before the first migration."""
    default = settings.DATABASES["default"]
    owner = settings.DATABASES.get("owner", {}).get("USER") or OWNER
    made = roles(owner=owner, app=default["USER"], database=default["NAME"], word=" PASSWORD '…'")
    return "-- As a superuser, once; the passwords are yours to choose.\n" + "".join(f"{line};\n" for line in made)
