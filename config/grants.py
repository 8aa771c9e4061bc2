"""What the application's role may do with the tables that a migration is about to make."""

from typing import Any

from django.conf import settings
from django.db import connections


def grant(*, using: str, **_: Any) -> None:
    """Before the owner migrates: rows for the application's role, and neither TRUNCATE nor ownership.

    Default privileges count only for tables made later, so this must come before the first migration.
    """
    role = settings.DATABASES["default"]["USER"]
    if using != "owner" or role == settings.DATABASES["owner"]["USER"]:
        return
    connection = connections["owner"]
    to = f"TO {connection.ops.quote_name(role)}"
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT USAGE ON SCHEMA public {to}")
        cursor.execute(f"ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES {to}")
        cursor.execute(f"ALTER DEFAULT PRIVILEGES GRANT USAGE, SELECT ON SEQUENCES {to}")
