"""The command line: what Django's does, and one clear line where a service is not up."""

import sys
from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError

from config.management.commands import up

START = "Start it with: python manage.py up"
# PostgreSQL's class 08 and 57P: no connection could be made, or the server is going down or coming up.
UNREACHABLE = ("08", "57P")
DISK_FULL = "53100"
STOOD_STILL = "25P03"
# By name: to import them takes longer than to start everything.
SILENT_VALKEY = {"kombu.exceptions.OperationalError", "redis.exceptions.ConnectionError"}


def run(arguments: Sequence[str]) -> None:
    """Run the command; end with code 1 and one line where it needs a service that does not answer."""
    try:
        if arguments[1:2] == ["up"]:
            # Its children load the applications; it need not, and is up two seconds sooner.
            up.Command().run_from_argv(list(arguments))
        else:
            execute_from_command_line(list(arguments))
    except OperationalError as error:
        if _state(error) == DISK_FULL:
            sys.exit("PostgreSQL's disk is full. Nothing was changed; make room and type it again.")
        if _state(error) == STOOD_STILL:
            sys.exit(
                "The command stood still, and PostgreSQL ended its transaction. Nothing was changed; type it again."
            )
        if not unreachable(error):
            raise
        sys.exit(f"PostgreSQL does not answer{_at(settings.DATABASES['default']['HOST'])}. {START}")
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except Exception as error:
        if not SILENT_VALKEY & {f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__}:
            raise
        sys.exit(f"Valkey does not answer. {START}")


def unreachable(error: OperationalError) -> bool:
    """Whether `error` says that nobody answers, rather than that a statement failed."""
    state = _state(error)
    return state is None or state.startswith(UNREACHABLE)


def _state(error: OperationalError) -> str | None:
    state: str | None = getattr(error.__cause__, "sqlstate", None)
    return state


def _at(host: str) -> str:
    return "" if not host or host.startswith("/") else f" at {host}"
