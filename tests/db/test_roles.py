"""The application's role can do its work and nothing else."""

import pytest
from django.db import connection, connections
from django.db.utils import ProgrammingError


@pytest.mark.django_db
def test_the_application_is_neither_owner_nor_superuser_nor_able_to_bypass() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
            " FROM pg_roles WHERE rolname = current_user"
        )
        assert cursor.fetchone() == ("vermilion_app", False, False, False, False)
        cursor.execute(
            "SELECT count(*) FROM pg_class JOIN pg_roles o ON o.oid = relowner WHERE o.rolname = current_user"
        )
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db(transaction=True)
def test_the_owner_migrates_and_is_no_superuser() -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == ("vermilion_owner", False, False)
        cursor.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'")
        assert cursor.fetchall() == [("vermilion_owner",)]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE django_session",
        "DROP TABLE django_session",
        "ALTER TABLE django_session DISABLE TRIGGER ALL",
        "CREATE TABLE of_my_own (id int)",
        "SET session_replication_role = replica",
        "SET ROLE vermilion_owner",
    ],
)
def test_the_application_is_refused(statement: str) -> None:
    with pytest.raises(ProgrammingError, match=r"permission denied|must be owner"), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db
def test_the_application_reads_and_writes_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_session VALUES ('a', 'b', now())")
        cursor.execute("UPDATE django_session SET session_data = 'c' WHERE session_key = 'a' RETURNING session_data")
        assert cursor.fetchone() == ("c",)
        cursor.execute("DELETE FROM django_session")
        assert cursor.rowcount == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("time", ["first", "second"])
def test_what_a_test_commits_is_gone_in_the_next(time: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session")
        assert cursor.fetchone() == (0,)
        cursor.execute("INSERT INTO django_session VALUES (%s, 'b', now())", [time])
