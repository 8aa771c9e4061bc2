"""A new database of one's own, filled in one go, is the one that the migrations make one by one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from config.local import prepared
from config.local.folder import Folder
from config.local.postgres import Postgres
from config.local.trouble import explain_database
from tests.harness.database import owner, url

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
BEHIND = 5  # Each migration that the file lacks makes the first start longer, the first of them most.
ROWS = {
    "migrations": "SELECT app || '.' || name FROM django_migrations ORDER BY 1",
    "kinds of content": "SELECT app_label || '.' || model FROM django_content_type ORDER BY 1",
    "permissions": "SELECT c.model || '.' || codename || p.name FROM auth_permission p"
    " JOIN django_content_type c ON c.id = content_type_id ORDER BY 1",
    "tables whose next number is taken": "SELECT 'django_migrations' WHERE nextval('django_migrations_id_seq')"
    " <= (SELECT max(id) FROM django_migrations)",
}


@contextmanager
def empty_database(name: str) -> Iterator[str]:
    name = f"test_{name}_{os.getpid()}"
    with owner("postgres") as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            yield name
        finally:
            connection.execute(f"DROP DATABASE {name}")  # Waits for who is leaving; none may force a pg_dump out.


@pytest.fixture
def made_in_one_go() -> Iterator[str]:
    """The name of a database filled from the file; whatever migrations came after it are still to be applied."""
    with empty_database("in_one_go") as name:
        assert prepared.apply(url(name))
        yield name


@pytest.fixture
def made_by_migrations() -> Iterator[str]:
    """The name of a database that every migration has made a part of."""
    with empty_database("one_by_one") as name:
        migrate(name)
        yield name


def rows(name: str, query: str) -> list[str]:
    with owner(name) as connection:
        return [row[0] for row in connection.execute(query).fetchall()]


def migrate(name: str) -> None:
    env = os.environ | {"DATABASE_URL": url(name, "default"), "DATABASE_OWNER_URL": url(name)}
    env["DJANGO_SETTINGS_MODULE"] = "config.settings"
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=env, check=True)


def schema(name: str) -> list[str]:
    """Its tables, functions, policies, triggers, grants; written down twice, as PostgreSQL then words no more anew."""
    server = Postgres(Folder(Path(settings.LOCAL_DIR)))
    with empty_database("again") as again:
        with owner(again) as connection, connection.transaction():
            connection.execute(prepared.dump(server, name, "--schema-only").encode())
        return prepared.dump(server, again, "--schema-only").splitlines()


def test_a_database_made_in_one_go_is_the_one_that_the_migrations_make(
    made_in_one_go: str, made_by_migrations: str
) -> None:
    lacking = set(rows(made_by_migrations, ROWS["migrations"])) - set(rows(made_in_one_go, ROWS["migrations"]))
    assert len(lacking) <= BEHIND, "Make the file anew: .venv/bin/python -m config.local.prepared"
    if lacking:
        migrate(made_in_one_go)
    assert schema(made_in_one_go) == schema(made_by_migrations)
    for what, query in ROWS.items():
        assert rows(made_in_one_go, query) == rows(made_by_migrations, query), what


def test_a_database_that_holds_anything_is_left_to_the_migrations(made_in_one_go: str) -> None:
    assert not prepared.apply(url(made_in_one_go))


def test_a_disk_that_is_full_half_way_is_said_in_a_line_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = tmp_path / "full.sql"
    full.write_text("CREATE TABLE public.first (n int); DO $$ BEGIN RAISE disk_full USING MESSAGE = 'no room'; END $$;")
    monkeypatch.setattr(prepared, "FILE", full)
    with empty_database("full") as name:
        with pytest.raises(psycopg.OperationalError) as met:
            prepared.apply(url(name))
        told = str(explain_database(met.value, where="/somewhere"))
        assert told == "The disk that holds /somewhere is full. Nothing was lost; make room and start again."
        assert rows(name, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []


def test_a_half_filled_database_does_not_come_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cut = tmp_path / "cut.sql"
    cut.write_text("CREATE TABLE public.first (n int); CREATE TABLE public.second (n nothing);")
    monkeypatch.setattr(prepared, "FILE", cut)
    with empty_database("cut") as name:
        with pytest.raises(psycopg.errors.UndefinedObject):
            prepared.apply(url(name))
        assert rows(name, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == []
