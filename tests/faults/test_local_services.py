"""The embedded PostgreSQL and Valkey: made once, private, and never left behind."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, ENOSPC
from pathlib import Path

import psycopg
import pytest
from kombu import Connection
from redis import Redis

from config.local.folder import Folder, write_run_file
from config.local.postgres import APP, OWNER, Postgres
from config.local.trouble import Trouble, explain
from config.local.valkey import Valkey

PARENT = """
import sys, time, pathlib
from config.local.folder import Folder
from config.local.postgres import Postgres
from config.local.valkey import Valkey
folder = Folder(pathlib.Path(sys.argv[1])); folder.hold()
postgres, valkey = Postgres(folder), Valkey(folder)
postgres.start(); valkey.start()
print(postgres.child.pid, valkey.child.pid, flush=True)
time.sleep(600)
"""
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def services(base: Path) -> Iterator[tuple[Postgres, Valkey]]:
    folder = Folder(base)
    folder.hold()
    postgres, valkey = Postgres(folder, options=("-c", "fsync=off")), Valkey(folder)
    try:
        postgres.start()
        valkey.start()
        yield postgres, valkey
    finally:
        valkey.stop()
        postgres.stop()
        folder.let_go()


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder whose path is short enough for the sockets to lie in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        yield Path(short) / "local"


def gone(pid: int, *, within: float = 15) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
        if not state.strip() or state.startswith("Z"):
            return True
        time.sleep(0.05)
    return False


def test_rows_and_keys_survive_a_kill_of_both_servers(base: Path) -> None:
    with services(base) as (postgres, valkey):
        with psycopg.connect(postgres.url(OWNER)) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
        with Redis.from_url(valkey.url(0)) as client:
            client.set("kept", "7")
            time.sleep(1.2)  # Its file is written each second.
        for service in (postgres, valkey):
            assert service.child
            service.child.kill()
            service.child.wait()
        postgres.start()
        valkey.start()
        with psycopg.connect(postgres.url(OWNER)) as connection:
            assert connection.execute("SELECT n FROM kept").fetchone() == (7,)
        with Redis.from_url(valkey.url(0)) as client:
            assert client.get("kept") == b"7"


def test_a_second_start_on_one_folder_is_refused_and_says_who_holds_it(base: Path) -> None:
    with services(base), pytest.raises(Trouble, match=rf"already running from .* \(process {os.getpid()}\)"):
        Folder(base).hold()


def test_two_folders_run_side_by_side(tmp_path: Path) -> None:
    with services(tmp_path / "one") as (one, _), services(tmp_path / "two") as (two, _):
        for postgres in (one, two):
            with psycopg.connect(postgres.url("postgres", "postgres")) as connection:
                row = connection.execute("SELECT current_setting('data_directory')").fetchone()
            assert row == (str(postgres.folder.data),)


def test_half_made_data_is_made_again(base: Path) -> None:
    (base / "postgres.new" / "base").mkdir(parents=True)
    (base / "postgres" / "pg_wal").mkdir(parents=True)
    with services(base) as (postgres, _), psycopg.connect(postgres.url(APP)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("name", ["long" * 30, "a b", "朱批", "50%", "a#b?c=d"])
def test_a_path_that_no_address_can_hold_gets_short_private_sockets(base: Path, name: str) -> None:
    base = base.parent / name
    with services(base) as (postgres, valkey):
        sockets = postgres.folder.sockets
        assert not sockets.is_relative_to(base)
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
        with psycopg.connect(postgres.url(APP)) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with Redis.from_url(valkey.url(0)) as client:
            assert client.ping()
        with Connection(valkey.broker_url()) as broker:
            broker.ensure_connection(max_retries=1)
    shutil.rmtree(sockets)


def test_a_killed_parent_leaves_no_server(base: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(base)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.send_signal(signal.SIGKILL)
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    with services(base) as (postgres, _), psycopg.connect(postgres.url(APP)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_secrets_are_made_once_and_are_for_their_owner_alone(tmp_path: Path) -> None:
    first = write_run_file(tmp_path, {"BROKER_URL": "redis://one"})
    second = write_run_file(tmp_path, {"BROKER_URL": "redis://two"})
    path = tmp_path / "run.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == second
    assert second == first | {"BROKER_URL": "redis://two"}
    assert {"SECRET_KEY", "FIELD_KEYS", "AUDIT_KEY"} <= set(first)


def test_a_damaged_file_of_secrets_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"SECRET_KEY": "cut sho')
    with pytest.raises(Trouble, match="damaged"):
        write_run_file(tmp_path, {})
    assert (tmp_path / "run.json").read_text() == '{"SECRET_KEY": "cut sho'


def test_starting_anew_removes_what_is_ours_and_nothing_else(base: Path) -> None:
    base.mkdir()
    for name in ("postgres", "demo"):
        (base / name).mkdir()
    for name in ("run.json", "letter.txt"):
        (base / name).write_text("{}")
    folder = Folder(base)
    folder.hold(reset=True)
    folder.let_go()
    assert sorted(path.name for path in base.iterdir()) == ["letter.txt", "lock", "sockets", "valkey"]


@pytest.mark.parametrize(
    ("error", "line"),
    [(OSError(ENOSPC, "No space"), "is full"), (PermissionError(EACCES, "Denied"), "may not be written by this user")],
)
def test_what_stops_a_start_is_said_in_a_line(error: OSError, line: str) -> None:
    told = str(explain(error, where="/somewhere"))
    assert line in told
    assert "/somewhere" in told
    assert "\n" not in told


def test_a_folder_of_somebody_else_is_not_taken_for_ours(base: Path) -> None:
    base.mkdir()
    (base / "sockets").write_text("a file, not a folder")
    with pytest.raises((Trouble, OSError), match=r"somebody else|cannot be prepared"):
        Folder(base).hold()
