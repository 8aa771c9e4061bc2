"""What the database lacks, told without loading the applications, which would take longer than all the rest."""

from importlib.util import find_spec
from pathlib import Path

import psycopg
from django.conf import settings
from psycopg import sql

Migration = tuple[str, str]


def on_disk() -> set[Migration]:
    """The migrations of every installed application, by label and name.

    A label is taken to be the last part of the application's name; where that is wrong, a migration seems to be
    missing, and `migrate` then finds nothing to do.
    """
    found = set()
    for application in settings.INSTALLED_APPS:
        for path in _folder(application).glob("[!_]*.py"):
            found.add((application.rpartition(".")[2], path.stem))
    return found


def _folder(application: str) -> Path:
    spec = find_spec(application)
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0] if places else "/nowhere") / "migrations"


def recorded(alias: str) -> set[Migration]:
    """The migrations that the database has seen; none where it is empty. psycopg's OperationalError if it is not up."""
    told = settings.DATABASES[alias]
    options = {k: v for k, v in told["OPTIONS"].items() if k != "pool"}
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    where = {names[key]: told[key] for key in names if told[key]}
    with psycopg.connect(**where, **options) as connection:
        try:
            return set(connection.execute(sql.SQL("SELECT app, name FROM django_migrations")).fetchall())
        except psycopg.errors.UndefinedTable:
            return set()


def missing(alias: str) -> int:
    """How many migrations the database lacks."""
    return len(on_disk() - recorded(alias))
