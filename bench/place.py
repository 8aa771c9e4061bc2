"""A PostgreSQL with its default durability and a Valkey, in a folder that goes when the measurements end."""

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import django
import psycopg
from django.core.management import call_command

from config.local.folder import Folder
from config.local.postgres import APP, OWNER, Postgres
from config.local.valkey import Valkey

BODY = "x" * 500
OPTIONS: tuple[str, ...] = ()


@contextmanager
def services() -> Iterator[Path]:
    """Start both, tell the settings, migrate, and stop both at the end; the folder where all of it lies."""
    with servers() as (base, _postgres, _valkey):
        yield base


@contextmanager
def servers() -> Iterator[tuple[Path, Postgres, Valkey]]:
    """As `services`, for whom stops and starts the servers meanwhile."""
    base = Path(tempfile.mkdtemp(prefix="vermilion-bench-"))
    base.chmod(0o755)
    folder = Folder(base)
    postgres, valkey = Postgres(folder, options=OPTIONS), Valkey(folder)
    folder.hold()
    try:
        postgres.start()
        valkey.start()
        _tell(base, postgres, valkey)
        django.setup()
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        yield base, postgres, valkey
    finally:
        valkey.stop()
        postgres.stop()
        folder.let_go()
        shutil.rmtree(base, ignore_errors=True)


def _tell(base: Path, postgres: Postgres, valkey: Valkey) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "LOCAL_DIR": str(base),
        "DATABASE_URL": postgres.url(APP),
        "DATABASE_OWNER_URL": postgres.url(OWNER),
        "BROKER_URL": valkey.broker_url(),
        "CHANNEL_URL": valkey.url(1),
        "SECRET_KEY": secrets.token_urlsafe(32),
        "FIELD_KEYS": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        "AUDIT_KEY": secrets.token_urlsafe(32),
        "AGENT_MODULES": "bench.agents",
    }


def connect(role: str = APP) -> "psycopg.Connection[tuple[object, ...]]":
    """A bare psycopg connection to the measured server."""
    url = os.environ["DATABASE_URL" if role == APP else "DATABASE_OWNER_URL"]
    return psycopg.connect(url, autocommit=True, prepare_threshold=0)


def make_floor() -> None:
    """The table of the bare loop."""
    owner = connect("owner")
    owner.execute("CREATE TABLE IF NOT EXISTS floor (id bigserial PRIMARY KEY, run uuid, step int, body text)")
    owner.execute("GRANT ALL ON floor TO PUBLIC")
    owner.execute("GRANT ALL ON SEQUENCE floor_id_seq TO PUBLIC")
    owner.close()


def insert(connection: "psycopg.Connection[tuple[object, ...]]", steps: int) -> float:
    """The bare loop: INSERT 500 bytes and commit, once a step; seconds for all."""
    run = uuid4()
    began = time.perf_counter()
    for step in range(steps):
        connection.execute("INSERT INTO floor (run, step, body) VALUES (%s, %s, %s)", (run, step, BODY))
    return time.perf_counter() - began
