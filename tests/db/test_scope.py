"""Tenants do not meet: what the scope, row security and the guard let through."""

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from tenants import locks, members
from tenants.actors import COMMAND
from tenants.errors import NoSubject, NoTenant, TwoSubjects
from tenants.models import Group, GroupMember, Member, Person, Tenant
from tenants.scope import current, scope


def setting() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('app.tenant', true)")
        return cursor.fetchone()[0] or ""


def test_a_scope_sees_its_own_rows_and_no_other(acme: Tenant, alice: Member, stranger: Member) -> None:
    with scope(acme.pk):
        assert Member.objects.filter(pk=alice.pk).exists()
        assert not Member.objects.filter(pk=stranger.pk).exists()
        assert Member.objects.filter(pk=stranger.pk).update(active=False) == 0


def test_a_row_for_another_tenant_is_refused(acme: Tenant, globex: Tenant) -> None:
    with pytest.raises(ProgrammingError, match="row-level security"), scope(acme.pk):
        Group.objects.create(tenant=globex, name="spies")


def test_a_reference_into_another_tenant_is_refused(acme: Tenant, alice: Member, stranger: Member) -> None:
    with scope(acme.pk), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        group = Group.objects.create(tenant=acme, name="mixed")
        with pytest.raises(IntegrityError), transaction.atomic():
            GroupMember.objects.create(tenant=acme, group=group, member_id=stranger.pk)


def test_outside_a_scope_tenant_tables_are_not_asked(acme: Tenant) -> None:
    with pytest.raises(NoTenant):
        Member.objects.exists()
    with pytest.raises(NoTenant):
        current()


def test_the_database_shows_nothing_without_a_tenant(acme: Tenant, alice: Member) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('app.tenant', '', true)")
        bare = cursor.cursor
        bare.execute("SELECT count(*) FROM tenants_member")
        assert bare.fetchone()[0] == 0


def test_scopes_nest_and_the_former_tenant_returns(acme: Tenant, globex: Tenant) -> None:
    with scope(acme.pk):
        with scope(globex.pk):
            assert current() == globex.pk
            assert setting() == str(globex.pk)
        assert current() == acme.pk
        assert setting() == str(acme.pk)
    assert setting() == ""


def test_the_former_tenant_returns_after_an_error_too(acme: Tenant, globex: Tenant) -> None:
    with scope(acme.pk):
        with pytest.raises(ZeroDivisionError), scope(globex.pk):
            raise ZeroDivisionError
        assert setting() == str(acme.pk)


@pytest.mark.django_db(transaction=True)
def test_a_pooled_connection_carries_no_tenant_on(acme: Tenant) -> None:
    with scope(acme.pk):
        assert setting() == str(acme.pk)
    assert setting() == ""


def test_a_read_only_scope_refuses_to_write_and_the_outer_one_still_writes(acme: Tenant) -> None:
    with scope(acme.pk):
        with pytest.raises(Exception, match="read-only"), scope(acme.pk, read_only=True):
            Group.objects.create(tenant=acme, name="never")
        with scope(acme.pk, read_only=True):
            assert not Group.objects.exists()
        Group.objects.create(tenant=acme, name="written")


def test_a_transaction_holds_one_subject(acme: Tenant) -> None:
    with scope(acme.pk):
        with pytest.raises(NoSubject):
            locks.demand("run:1")
        locks.hold("run:1")
        locks.hold("run:1")
        locks.demand("run:1")
        with pytest.raises(TwoSubjects):
            locks.hold("run:2")
    with scope(acme.pk):
        locks.hold("run:2")


def test_a_lock_lost_with_its_savepoint_is_not_thought_held(acme: Tenant) -> None:
    def hold_and_fail() -> None:
        with scope(acme.pk):
            locks.hold("run:1")
            raise ZeroDivisionError

    with scope(acme.pk):
        with pytest.raises(ZeroDivisionError):
            hold_and_fail()
        with pytest.raises(NoSubject):
            locks.demand("run:1")


def test_the_same_person_may_belong_to_two_tenants(acme: Tenant, globex: Tenant, alice: Member) -> None:
    with scope(globex.pk):
        there = members.add(alice.email, actor=COMMAND, roles=["manager"])
    assert there.person_id == alice.person_id
    assert there.pk != alice.pk


def test_nothing_is_left_of_a_scope_that_failed(acme: Tenant) -> None:
    def write_and_fail() -> None:
        with scope(acme.pk):
            Group.objects.create(tenant=acme, name="gone")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    with scope(acme.pk):
        assert not Group.objects.exists()


def test_a_person_who_is_switched_off_moves_the_stamp_of_their_tenants(
    acme: Tenant, globex: Tenant, alice: Member
) -> None:
    Person.objects.filter(pk=alice.person_id).update(name="Alice B.")
    stamps = [Tenant.objects.get(pk=each.pk).stamp for each in (acme, globex)]
    for active in (False, True):
        Person.objects.filter(pk=alice.person_id).update(is_active=active)
        stamps[0] += 1
        assert [Tenant.objects.get(pk=each.pk).stamp for each in (acme, globex)] == stamps
