"""What many requests say is kept once, never changed, read as if it were in each, and leaves with the last of them."""

from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections, transaction

from approvals import decisions, hands, wordings
from approvals.latest import latest
from approvals.models import ApprovalRequest, Wording
from runs import commands, purging
from tenants.members import actor_of
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin
from tests.cast.requests import REFUND, a_call, demanded, fresh, park, rule

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def count(tenant: Tenant) -> int:
    with scope(tenant.pk):
        return Wording.objects.count()


def as_before(request: ApprovalRequest) -> ApprovalRequest:
    """The request as the release before kept it: whole, without wordings."""
    with scope(request.tenant_id):
        row = ApprovalRequest.objects.get(pk=request.pk)
        row.own_definition, row.own_requirement = row.definition, row.requirement
        row.own_fingerprint, row.own_run = row.fingerprint, row.run
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_approvalrequest DISABLE TRIGGER request_states_frozen")
    row.worded = row.demanded = None
    row.tenant_id = request.tenant_id
    names = [
        "own_definition",
        "own_requirement",
        "own_fingerprint",
        "own_run",
        "definition_digest",
        "requirement_digest",
    ]
    with scope(request.tenant_id):
        row.save(update_fields=names)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_approvalrequest ENABLE TRIGGER request_states_frozen")
    return fresh(request)


def test_requests_that_say_the_same_share_it(acme: Tenant, alice: Member) -> None:
    first, second = park(acme), park(acme)
    assert count(acme) == 2
    assert (first.definition_digest, first.requirement_digest) == (second.definition_digest, second.requirement_digest)
    other = park(acme, a_call(definition={**REFUND, "undo": None}))
    assert count(acme) == 3
    assert fresh(other).definition == {**REFUND, "undo": None}
    assert fresh(first).definition == fresh(second).definition == REFUND
    assert fresh(first).fingerprint == "f1"


def test_what_the_rules_saw_of_one_call_is_kept_with_that_call_alone(acme: Tenant, alice: Member, ravi: Member) -> None:
    rule(acme, ravi, when="minor(args.amount) > 100000", tools=["refund"], outcome="require_approval")
    secret = a_call(arguments={"order_id": "A-1", "amount": "7777.77", "currency": "EUR", "count": 1, "note": ""})
    request = park(acme, secret)
    with scope(acme.pk):
        bodies = " ".join(str(row.body) for row in Wording.objects.all())
        demand = demanded(secret).as_json()
    assert "7777.77" in str(demand["trace"])
    assert "7777" not in bodies
    assert fresh(request).requirement == demand


def test_the_row_under_the_lock_and_the_engines_look_read_the_same(acme: Tenant, alice: Member) -> None:
    request = park(acme)
    with scope(acme.pk):
        hand = hands.take(request.pk)
        assert hand is not None
        assert (hand.request.definition, hand.request.requirement) == (REFUND, fresh(request).requirement)
        view = latest(request.subject)["1"]
        assert (view.fingerprint, view.requirement) == ("f1", hand.need)


def test_a_row_from_before_is_read_and_answered(acme: Tenant, alice: Member) -> None:
    request = as_before(park(acme))
    assert (request.definition_digest, request.requirement_digest) == (None, None)
    assert (request.definition, request.fingerprint) == (REFUND, "f1")
    with scope(acme.pk):
        assert latest(request.subject)["1"].fingerprint == "f1"
        assert latest(request.subject)["1"].requirement == demanded(a_call())
    done = decisions.decide(
        request.pk, tenant=acme.pk, actor=actor_of(alice), decision="approve", version=1, channel="page"
    )
    assert done.request.status == "approved"


def test_nothing_of_it_changes(acme: Tenant, alice: Member) -> None:
    park(acme)
    for verb in ("UPDATE approvals_wording SET body = '{}'", "DELETE FROM approvals_wording"):
        with scope(acme.pk), pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(verb)
    with connections["owner"].cursor() as cursor, pytest.raises(IntegrityError, match="never changed"):
        cursor.execute("UPDATE approvals_wording SET body = '{}'")


def test_another_tenant_reads_none_and_refers_to_none(acme: Tenant, alice: Member, globex: Tenant) -> None:
    hers = park(acme)
    with scope(globex.pk):
        assert not Wording.objects.exists()
        assert not Wording.objects.filter(digest=hers.definition_digest).exists()
    theirs = park(globex)
    with scope(globex.pk):
        assert {row.tenant_id for row in Wording.objects.all()} == {globex.pk}
    with connections["owner"].cursor() as cursor, pytest.raises(IntegrityError):
        cursor.execute("DELETE FROM approvals_wording WHERE tenant_id = %s", [globex.pk])
    assert fresh(theirs).definition == REFUND


def age(run: Started) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE runs_run SET finished_at = now() - interval '400 days' WHERE id = %s", [run.id])


def test_the_purge_takes_what_nobody_refers_to_any_more(clerk: Tenant) -> None:
    old, young = begin(clerk), begin(clerk)
    park(clerk, a_call(definition={**REFUND, "undo": "Never."}), subject=f"run:{old.id}")
    kept = park(clerk, subject=f"run:{young.id}")
    assert count(clerk) == 3
    for run in (old, young):
        run.do(commands.cancel)
    age(old)
    assert purging.purge_all() == 1
    assert count(clerk) == 2
    assert fresh(kept).definition == REFUND
    age(young)
    assert purging.purge_all() == 1
    assert count(clerk) == 0


def test_the_purge_waits_for_whoever_is_about_to_refer_to_it(clerk: Tenant) -> None:
    old = begin(clerk)
    park(clerk, subject=f"run:{old.id}")
    old.do(commands.cancel)
    age(old)
    request: Any = ApprovalRequest(tenant_id=clerk.pk, subject="case:7", ref="1", agent="refund-desk")
    with scope(clerk.pk):
        wordings.word(request, a_call(), demanded(a_call()))
        with connections["owner"].cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(subject_key(%s, '#wordings'))", [str(clerk.pk)])
            assert cursor.fetchone() == (False,)
