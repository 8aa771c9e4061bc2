"""The command line: what Django's does, and one clear line where a service is not up."""

import sys
from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as ValkeyError

START = "Start it with: python manage.py up"
# PostgreSQL's class 08 and 57P: no connection could be made, or the server is going down or coming up.
UNREACHABLE = ("08", "57P")


def run(arguments: Sequence[str]) -> None:
    """Run the command; end with code 1 and one line where it needs a service that does not answer."""
    try:
        execute_from_command_line(list(arguments))
    except OperationalError as error:
        if not unreachable(error):
            raise
        sys.exit(f"PostgreSQL does not answer{_at(settings.DATABASES['default']['HOST'])}. {START}")
    except (BrokerError, ValkeyError):
        sys.exit(f"Valkey does not answer. {START}")
    except ImproperlyConfigured as error:
        sys.exit(str(error))


def unreachable(error: OperationalError) -> bool:
    """Whether `error` says that nobody answers, rather than that a statement failed."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or str(state).startswith(UNREACHABLE)


def _at(host: str) -> str:
    return "" if not host or host.startswith("/") else f" at {host}"
