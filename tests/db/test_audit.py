"""The audit chain: nothing is lost, nothing changed unseen, and what is personal can be forgotten."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, ProgrammingError, connection, connections, transaction

from tenants import audit
from tenants.models import AuditContent, AuditEntry, AuditHead, Member, Tenant
from tenants.scope import scope
from tenants.verification import Verdict, verify
from tests.cast.people import actor


def checked(tenant: Tenant) -> Verdict:
    with scope(tenant.pk, read_only=True):
        return verify()


def write(member: Member, count: int) -> None:
    for number in range(count):
        with scope(member.tenant_id):
            audit.record("run.commented", actor=actor(member), target="run:1", detail={"number": number})


def as_owner(*statements: str) -> None:
    """What somebody could do who has the database itself."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE tenants_auditentry DISABLE TRIGGER append_only")
        cursor.execute("ALTER TABLE tenants_auditcontent DISABLE TRIGGER append_only")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("ALTER TABLE tenants_auditentry ENABLE TRIGGER append_only")
        cursor.execute("ALTER TABLE tenants_auditcontent ENABLE TRIGGER append_only")


def test_the_chain_proves_up_to_its_last_entry(acme: Tenant, alice: Member) -> None:
    write(alice, 5)
    with scope(acme.pk):
        last = AuditEntry.objects.order_by("-seq").first()
    assert last is not None
    assert checked(acme) == Verdict(proved=last.seq, fault=None, digest=last.digest)


@pytest.mark.parametrize("table", ["tenants_auditentry", "tenants_auditcontent", "tenants_event"])
@pytest.mark.parametrize("verb", ["UPDATE {} SET seq = 99", "DELETE FROM {}", "TRUNCATE {}"])
def test_the_application_may_only_add(acme: Tenant, alice: Member, table: str, verb: str) -> None:
    with scope(acme.pk), pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        connection.cursor().execute(verb.format(table))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verb", ["UPDATE {} SET seq = 99", "DELETE FROM {}"])
def test_a_trigger_refuses_the_owner_as_well(acme: Tenant, verb: str) -> None:
    for table in ("tenants_auditentry", "tenants_auditcontent"):
        with pytest.raises(DatabaseError, match="never changed"), connections["owner"].cursor() as cursor:
            cursor.execute(verb.format(table))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        ("UPDATE tenants_auditentry SET target = 'run:2' WHERE seq = 4", "Entry 4 was changed"),
        ("UPDATE tenants_auditentry SET actor_id = 'x' WHERE seq = 4", "Entry 4 was changed"),
        ("DELETE FROM tenants_auditentry WHERE seq = 4", "Entry 4 is missing"),
        ("DELETE FROM tenants_auditentry WHERE seq >= 6", "Entries after 5 are missing"),
        ("UPDATE tenants_auditcontent SET body = '{}' WHERE seq = 4", "content of entry 4 was changed"),
        ("UPDATE tenants_auditentry SET signature = 'AAAA' WHERE seq >= 4", "Entries after 3 are not signed"),
        ("UPDATE tenants_audithead SET digest = repeat('f', 64)", "head does not name the last entry"),
    ],
)
def test_damage_is_found_and_named(acme: Tenant, alice: Member, damage: str, fault: str) -> None:
    write(alice, 5)
    as_owner(damage)
    verdict = checked(acme)
    assert not verdict.holds
    assert fault in str(verdict.fault)
    assert verdict.proved in (3, 5, 7)


@pytest.mark.django_db(transaction=True)
def test_what_is_personal_is_blanked_and_the_chain_still_proves(acme: Tenant, alice: Member) -> None:
    write(alice, 3)
    with scope(acme.pk):
        entries = AuditEntry.objects.count()
        assert audit.blank(datetime.now(UTC) + timedelta(seconds=5)) == entries
        assert set(AuditContent.objects.values_list("body", flat=True)) == {None}
    assert checked(acme).holds


def test_blanking_reaches_the_tenant_in_scope_alone(acme: Tenant, globex: Tenant) -> None:
    with scope(acme.pk):
        audit.blank(datetime.now(UTC) + timedelta(seconds=5))
    with scope(globex.pk):
        assert None not in AuditContent.objects.values_list("body", flat=True)


@pytest.mark.django_db(transaction=True)
def test_twenty_racing_appends_leave_twenty_entries(acme: Tenant, alice: Member) -> None:
    with scope(acme.pk):
        before = AuditEntry.objects.count()

    def append(number: int) -> None:
        try:
            write(alice, 1)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(append, range(20)))
    with scope(acme.pk):
        assert AuditEntry.objects.count() == before + 20
    assert checked(acme).holds


@pytest.mark.django_db(transaction=True)
def test_an_entry_goes_with_the_transaction_that_failed(acme: Tenant, alice: Member) -> None:
    def write_and_fail() -> None:
        with scope(acme.pk):
            audit.record("run.cancelled", actor=actor(alice), target="run:1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    with scope(acme.pk):
        assert not AuditEntry.objects.filter(action="run.cancelled").exists()
        assert AuditHead.objects.get().seq == AuditEntry.objects.count()


def test_the_same_content_twice_has_two_digests(acme: Tenant, alice: Member) -> None:
    with scope(acme.pk):
        for _ in range(2):
            audit.record("person.named", actor=actor(alice), target="run:1", detail={"name": "Alice"})
        found = AuditEntry.objects.filter(action="person.named").values_list("content_digest", flat=True)
        assert len(set(found)) == 2
