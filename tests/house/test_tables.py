"""Every table is a tenant's or global, and every tenant table keeps tenants apart by itself."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connections

from tenants.guard import tenant_tables

GLOBAL = {
    "account_emailaddress",
    "account_emailconfirmation",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "django_migrations",
    "django_session",
    "guardian_groupobjectpermission",
    "guardian_userobjectpermission",
    "mfa_authenticator",
    "runs_agentversion",
    "runs_tooldefinition",
    "runs_workerseen",
    "socialaccount_socialaccount",
    "socialaccount_socialapp",
    "socialaccount_socialtoken",
    "tenants_person",
    "tenants_tenant",
}
"""Tables whose rows belong to no tenant: persons, tenants themselves, what workers know, Django's own."""

MAY = {"SELECT", "INSERT", "UPDATE", "DELETE"}
APPEND_ONLY = {"tenants_event", "tenants_auditentry", "tenants_auditcontent", "approvals_wording"}


@pytest.fixture
def rows(transactional_db: None) -> Any:
    """Asks the catalog, with the owner's eyes."""

    def ask(query: str, *values: Any) -> list[tuple[Any, ...]]:
        with connections["owner"].cursor() as cursor:
            cursor.execute(query, values)
            return cursor.fetchall()  # type: ignore[no-any-return]

    return ask


def tables(rows: Any) -> set[str]:
    return {row[0] for row in rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def kept(rows: Any) -> set[str]:
    """A tenant's tables, as against the views of them, which hold no rows."""
    return tenant_tables() & tables(rows)


def test_a_view_shows_whoever_reads_it_their_own_rows_and_is_no_door(rows: Any) -> None:
    found = rows(
        "SELECT relname, reloptions::text FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace"
    )
    assert found == [("runs_attempt", "{security_invoker=true}")]


def test_every_table_is_listed_as_a_tenants_or_as_global(rows: Any) -> None:
    found = tables(rows)
    with_tenant = {
        row[0]
        for row in rows(
            "SELECT table_name FROM information_schema.columns JOIN information_schema.tables"
            " USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND column_name = 'tenant_id'"
        )
    }
    assert found == GLOBAL | with_tenant
    assert not GLOBAL & with_tenant
    assert with_tenant == tenant_tables() & found


def test_row_security_is_forced_with_one_policy_and_the_owners(rows: Any) -> None:
    forced = rows("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
    assert {row[0] for row in forced} == kept(rows)
    policies = rows(
        "SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies"
        " WHERE schemaname = 'public'"
    )
    mine = "(tenant_id = ( SELECT app_tenant() AS app_tenant))"
    expected = set()
    for table in kept(rows):
        expected.add((table, "tenant", "PERMISSIVE", "{public}", "ALL", mine, mine))
        expected.add((table, "owner", "PERMISSIVE", "{vermilion_owner}", "ALL", "true", "true"))
    assert set(policies) == expected


def test_references_between_tenant_tables_name_the_tenant(rows: Any) -> None:
    found = rows(
        "SELECT conrelid::regclass::text, confrelid::regclass::text, conname, ARRAY(SELECT attname::text"
        " FROM unnest(conkey) WITH ORDINALITY AS k(n, o) JOIN pg_attribute ON attrelid = conrelid AND attnum = n"
        " ORDER BY o) FROM pg_constraint WHERE contype = 'f'"
    )
    within = [each for each in found if {each[0], each[1]} <= tenant_tables()]
    assert [name for _from, _to, name, columns in within if columns[0] != "tenant_id"] == []
    composite = {(table, to, columns[1]) for table, to, _name, columns in within}
    declared = {
        (model._meta.db_table, field.related_model._meta.db_table, field.column or field.from_fields[-1])
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.local_fields
        if field.is_relation and {model._meta.db_table, field.related_model._meta.db_table} <= kept(rows)
    }
    # A step is written beside its lease, which refers to the run, and keeps the run from being deleted.
    assert declared - composite == {("runs_step", "runs_run", "run_id")}


def test_no_other_tenants_row_can_be_in_the_way(rows: Any) -> None:
    """A unique constraint sees all tenants: it starts with the tenant, or is the id that we make ourselves."""
    found = rows(
        "SELECT indrelid::regclass::text, indexrelid::regclass::text, ARRAY(SELECT attname::text FROM"
        " unnest(indkey::int2[]) WITH ORDINALITY AS k(n, o) JOIN pg_attribute ON attrelid = indrelid AND attnum = n"
        " ORDER BY o) FROM pg_index WHERE indisunique"
    )
    mine = [each for each in found if each[0] in tenant_tables()]
    assert mine
    assert [each for each in mine if each[2][0] != "tenant_id" and each[2] != ["id"]] == []


def test_no_id_of_a_tenants_row_is_a_sequence(rows: Any) -> None:
    found = rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND (is_identity = 'YES' OR column_default LIKE 'nextval%%')"
    )
    assert [each for each in found if each[0] in tenant_tables()] == []


def test_the_application_holds_rows_and_nothing_else(rows: Any) -> None:
    bypass = rows("SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = 'vermilion_app'")
    assert bypass == [(False, False, False)]
    granted = rows(
        "SELECT table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee ="
        " 'vermilion_app' AND table_schema = 'public'"
    )
    assert {privilege for _table, privilege in granted} <= MAY
    owned = rows("SELECT tablename FROM pg_tables WHERE tableowner = 'vermilion_app'")
    assert owned == []
    for table in APPEND_ONLY:
        assert {privilege for name, privilege in granted if name == table} == {"SELECT", "INSERT"}


def test_doors_are_the_owners_closed_to_the_public_and_with_a_path_of_their_own(rows: Any) -> None:
    found = rows(
        "SELECT proname::text, pg_get_userbyid(proowner)::text, proconfig::text,"
        " coalesce(array_to_string(proacl, ' '), '=X/') FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace"
        " WHERE nspname = 'public' AND prosecdef"
    )
    assert found
    for name, owner, config, acl in found:
        assert owner == "vermilion_owner", name
        assert "search_path=pg_catalog" in (config or ""), name
        assert not any(grant.startswith("=") for grant in acl.split(" ")), f"everybody may call {name}"


def test_whoever_appends_events_says_so_to_whoever_hears_them(rows: Any) -> None:
    """The two statements of a worker that do not are sent where the lease says that nobody hears."""
    found = rows("SELECT proname, prosrc FROM pg_proc WHERE position('INSERT INTO tenants_event' in prosrc) > 0")
    assert "event_append" in dict(found)
    assert [name for name, source in found if "PERFORM events_appended(" not in source] == []
    sources = [each for app in ("tenants", "approvals", "runs", "config") for each in Path(app).rglob("*.py")]
    told = {str(each) for each in sources if "INSERT INTO tenants_event" in each.read_text()}
    assert {each for each in told if "migrations" not in each} == {"runs/onward.py", "runs/openings.py"}
