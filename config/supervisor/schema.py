"""The database's shape, before anything uses it."""

from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from config.local.trouble import Trouble
from config.supervisor.console import say


def missing(alias: str) -> int:
    """How many migrations the database still lacks."""
    executor = MigrationExecutor(connections[alias])
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def bring_up_to_date() -> None:
    """Migrate as the owner; without the owner's URL only look, and raise Trouble where something is missing."""
    alias = "owner" if "owner" in settings.DATABASES else "default"
    try:
        lacking = missing(alias)
        if not lacking:
            return
        if alias != "owner":
            raise Trouble(
                f"The database lacks {lacking} migrations and DATABASE_OWNER_URL is not set. "
                "Run `python manage.py migrate` with it, then start again."
            )
        say(f"Bringing the database up to date: {lacking} migrations.")
        call_command("migrate", database=alias, verbosity=0, interactive=False)
    finally:
        connections.close_all()
