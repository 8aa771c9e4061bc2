"""Where a setting comes from: the environment first, then `run.json` of the local services, then its default."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import environ

BASE = Path(__file__).resolve().parent.parent


def local_dir() -> Path:
    """The folder of the embedded services, absolute; a relative `LOCAL_DIR` counts from the project."""
    return (BASE / os.environ.get("LOCAL_DIR", ".local")).resolve()


def run_file() -> Path:
    """The file in which `manage.py up` leaves its addresses and the secrets it made."""
    return local_dir() / "run.json"


def from_run_file() -> dict[str, str]:
    """What `run.json` says; nothing where it is missing, cut short or not ours to read."""
    try:
        found = json.loads(run_file().read_text())
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def read() -> environ.Env:
    """The environment, completed from `run.json` unless `DATABASE_URL` says that the services are elsewhere."""
    if "DATABASE_URL" not in os.environ:
        values = from_run_file() | dict(os.environ)
    else:
        values = dict(os.environ)
    env = environ.Env()
    env.ENVIRON = values
    return env


HEARD_OF = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"}
"""A server that is reached by TCP and not heard of for a minute is gone (seconds, and milliseconds for the last): a
network that drops a quiet connection says nothing, and the kernel's own patience is two hours."""


def database(url: str, *, idle: float = 0) -> dict[str, Any]:
    """Django's form of a `postgresql://` URL; its query is libpq's, where `host` may be a socket's folder.

    A transaction in which nothing is asked for `idle` seconds is ended by the server; 0 lets it stand. What the URL's
    own `options` say comes later and counts.
    """
    parts = urlsplit(url)
    options = HEARD_OF | dict(parse_qsl(parts.query))
    if idle:
        told = f"-c idle_in_transaction_session_timeout={round(idle * 1000)}"
        options["options"] = f"{told} {options.get('options', '')}".strip()
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.removeprefix("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": options.pop("port", str(parts.port or "")),
        "OPTIONS": options,
    }


def valkey(url: str, *, number: int) -> str:
    """The URL of database `number` on the Valkey or Redis server of a broker URL, as redis-py reads it.

    Celery writes a socket as `redis+socket:///path?virtual_host=N`, redis-py as `unix:///path?db=N`.
    """
    parts = urlsplit(url)
    if parts.scheme in ("redis+socket", "unix"):
        options = {k: v for k, v in parse_qsl(parts.query) if k not in ("virtual_host", "db")}
        return "unix://" + parts.path + "?" + urlencode({**options, "db": number})
    return urlunsplit((parts.scheme, parts.netloc, f"/{number}", parts.query, ""))
