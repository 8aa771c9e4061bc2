"""A new database in one go: what all migrations together make of an empty one, as SQL in `prepared.sql`.

It is made from the migrations and never written by hand: `python -m config.local.prepared` makes it anew. Migrations
that came later are applied after it, as on any other database; a test holds the two ways against each other.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from config.local import binaries
from config.local.folder import Folder
from config.local.postgres import DATABASE, Postgres

FILE = Path(__file__).with_name("prepared.sql")
ROOT = FILE.parents[2]
_EMPTY = "SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)"
_PREAMBLE = "SET LOCAL check_function_bodies = false;\nSET LOCAL search_path = '';\n\n"
_MOMENT = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+00'")


def apply(url: str) -> bool:
    """Fill the database of `url`, whole or not at all, if it is empty; whether it was. `url` is its owner's."""
    with psycopg.connect(url, options="-c client_min_messages=warning") as connection:
        (empty,) = connection.execute(_EMPTY).fetchone() or (False,)
        if empty:
            connection.execute(FILE.read_bytes())
    return bool(empty)


def dump(server: Postgres, database: str, *words: str) -> str:
    """What `apply` would run to make this database again, as far as `words` to pg_dump do not leave it out."""
    # Asked as the administrator: the owner's own rows are under row security too.
    where = ("-h", str(server.folder.sockets), "-U", "postgres", "--no-owner", "--rows-per-insert=100")
    command = [str(binaries.postgres("pg_dump")), *where, *words, database]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    body = told.partition("SET row_security = off;\n")[2].partition("--\n-- PostgreSQL database dump complete")[0]
    body = re.sub(r"(?m)^--\n-- (?:Data for )?Name: .*\n--\n\n", "", body)
    body = re.sub(r"(?m)^SET default_.*\n\n", "", body)
    return _PREAMBLE + re.sub(r"\n{3,}", "\n\n", _MOMENT.sub("now()", body)).strip() + "\n"


def write() -> None:
    """Make `prepared.sql` anew: all migrations on an empty server, and what that led to."""
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place) / "local")
        folder.hold()
        server = Postgres(folder)
        server.start()
        try:
            env = os.environ | {"LOCAL_DIR": str(folder.base)}
            command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--no-input"]
            subprocess.run(command, cwd=ROOT, env=env, check=True)
            FILE.write_text(dump(server, DATABASE))
        finally:
            server.stop()
            folder.let_go()


if __name__ == "__main__":
    write()
