"""Many due requests at once come to what each alone comes to, and a plan that no longer holds does nothing."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from psycopg import OperationalError, errors

from approvals import acts, escalation, flight, requests
from approvals.known import Known
from approvals.models import ApprovalRequest, Asked, Delivery
from runs import engine
from tenants import prepared, stamps
from tenants.actors import SYSTEM
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.scope import ENTER, scope
from tests.cast import runs
from tests.cast.people import actor
from tests.cast.requests import a_call, fresh, group, park, rule
from tests.db.test_escalation import asked, decide, hours_pass, levels, story
from tests.harness.database import NAME, owner

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

TIMES = {"opened_at", "deadline", "due_at", "next_at", "decided_at"}
OWN = {"id", "subject", "precedents"}


@pytest.fixture(autouse=True)
def mail(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def alone(request: ApprovalRequest) -> None:
    escalation.handle(request.tenant_id, request.pk)


def together(request: ApprovalRequest) -> None:
    """As the sweep handles many; nothing may be left to be handled alone."""
    made = flight.plans(request.tenant_id, [request.pk], Known())
    assert flight.done(made) == []


def what_came_of(request: ApprovalRequest) -> list[Any]:
    """Everything that was written about the request, without what two requests never share."""
    with scope(request.tenant_id):
        row = ApprovalRequest.objects.filter(pk=request.pk).values().get()
        people = Asked.objects.filter(request=request, until=None).order_by("member", "since")
        sent = Delivery.objects.filter(request=request).order_by("kind", "key", "address")
        of_people = list(people.values_list("member", "level", "because"))
        of_post = list(
            sent.values_list("kind", "key", "member", "transport", "address", "status", "bundled", "attempts")
        )
    told = {name: value for name, value in row.items() if name not in TIMES | OWN}
    gaps = {name: row[name] - row["opened_at"] for name in TIMES - {"decided_at"} if row[name]}
    text = json.dumps([told, gaps, of_people, of_post, story(request)[1:]], default=str, sort_keys=True)
    return json.loads(text.replace(str(request.pk), "this").replace(request.subject, "subject"))  # type: ignore[no-any-return]


Made = Callable[[Tenant, Member, Member], tuple[Callable[[], ApprovalRequest], float]]


def expires(acme: Tenant, _alice: Member, bo: Member) -> tuple[Callable[[], ApprovalRequest], float]:
    return lambda: park(acme, a_call(initiators=(bo.pk,))), 25


def is_agreed(acme: Tenant, alice: Member, _bo: Member) -> tuple[Callable[[], ApprovalRequest], float]:
    rule(acme, alice, on_timeout="approve")
    return lambda: park(acme, a_call(risk="low")), 25


def climbs(acme: Tenant, alice: Member, bo: Member) -> tuple[Callable[[], ApprovalRequest], float]:
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    return lambda: park(acme), 2


def is_repeated(acme: Tenant, alice: Member, bo: Member) -> tuple[Callable[[], ApprovalRequest], float]:
    group(acme, "Refunds", alice)
    chain = levels(acme, (3600, [group(acme, "Leads", bo)]), repeats=1)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=chain)
    return lambda: park(acme), 4


def ends_soon(acme: Tenant, _alice: Member, _bo: Member) -> tuple[Callable[[], ApprovalRequest], float]:
    return lambda: park(acme), 22


@pytest.mark.parametrize("made", [expires, is_agreed, climbs, is_repeated, ends_soon])
def test_many_come_to_what_one_alone_comes_to(acme: Tenant, alice: Member, bo: Member, made: Made) -> None:
    parking, hours = made(acme, alice, bo)
    one, other = parking(), parking()
    before = what_came_of(one)
    for request, handle in ((one, alone), (other, together)):
        hours_pass(request, hours)
        handle(request)
    assert what_came_of(one) == what_came_of(other) != before


@pytest.mark.parametrize("handle", [alone, together])
def test_a_run_hears_of_silence_in_the_same_transaction(
    acme: Tenant, alice: Member, handle: Callable[[ApprovalRequest], None]
) -> None:
    run = runs.start(acme, [runs.call("refund")])
    engine.advance(acme.pk, run, worker="test", knows=["script@1"], stopping=lambda: False)
    (request,) = runs.requests(acme, run)
    hours_pass(request, 25)
    handle(request)
    assert runs.read(acme, run).status == "queued"
    assert runs.story(acme, run)[-3:] == ["approval.expired", "step.declined", "run.resumed"]
    assert [(each.status, each.reason) for each in runs.calls(acme, run)] == [("declined", "expired")]


def answered(request: ApprovalRequest, alice: Member, _bo: Member) -> None:
    decide(request, alice)


def voted(request: ApprovalRequest, alice: Member, _bo: Member) -> None:
    decide(request, alice, version=1)


def reassigned(request: ApprovalRequest, alice: Member, bo: Member) -> None:
    with scope(request.tenant_id):
        Member.objects.filter(pk=alice.pk).update(roles=["reviewer", "manager"])
    acts.reassign(
        request.pk, tenant=request.tenant_id, actor=actor(alice), to=bo.email, before=alice.email, channel="api"
    )


def people_changed(request: ApprovalRequest, _alice: Member, _bo: Member) -> None:
    with scope(request.tenant_id):
        stamps.bump()


def climbed(request: ApprovalRequest, _alice: Member, _bo: Member) -> None:
    alone(request)


def closed(request: ApprovalRequest, _alice: Member, _bo: Member) -> None:
    with scope(request.tenant_id):
        hold(request.subject)
        requests.cancel_open(request.subject, actor=SYSTEM, because="the run was cancelled")


Change = Callable[[ApprovalRequest, Member, Member], None]


@pytest.mark.parametrize("change", [answered, voted, reassigned, people_changed, climbed, closed])
def test_a_level_that_was_planned_before_something_changed_is_looked_at_again(
    acme: Tenant, alice: Member, bo: Member, mona: Member, change: Change
) -> None:
    both = 2 if change is voted else 1
    rule(acme, alice, approvals=both, escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    request = park(acme)
    hours_pass(request, 2)
    made = flight.plans(acme.pk, [request.pk], Known())
    assert len(made.planned) == 1
    change(request, alice, bo)
    before = what_came_of(request)
    left = flight.done(made)
    assert what_came_of(request) == before, "what was planned was not done"
    ended = fresh(request).status != "pending"
    assert left == ([] if ended else [request.pk])
    escalation.handle_together([(acme.pk, request.pk)])
    assert ended or fresh(request).escalation_level == 1


@pytest.mark.parametrize(("change", "end"), [(answered, "approved"), (closed, "cancelled"), (climbed, "expired")])
def test_silence_that_was_planned_does_not_end_what_has_ended(
    acme: Tenant, alice: Member, bo: Member, change: Change, end: str
) -> None:
    request = park(acme, a_call(initiators=(bo.pk,)))
    hours_pass(request, 25)
    made = flight.plans(acme.pk, [request.pk], Known())
    if change is answered:
        hours_pass(request, -25)
    change(request, alice, bo)
    before = what_came_of(request)
    assert flight.done(made) == []
    assert (what_came_of(request), fresh(request).status) == (before, end)


def test_a_deadline_that_was_not_reached_after_all_ends_nothing(acme: Tenant, alice: Member) -> None:
    request = park(acme)
    hours_pass(request, 25)
    made = flight.plans(acme.pk, [request.pk], Known())
    hours_pass(request, -25)
    assert flight.done(made) == [request.pk]
    assert fresh(request).status == "pending"


def test_one_that_fails_leaves_the_others_be(acme: Tenant, alice: Member, bo: Member) -> None:
    found = [park(acme) for _number in range(4)]
    for each in found:
        hours_pass(each, 25)
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM approvals_requestversion WHERE request_id = %s", [found[1].pk])
    assert escalation.sweep() == 4
    assert [fresh(each).status for each in found] == ["expired", "pending", "expired", "expired"]


def test_one_whose_lock_somebody_keeps_hinders_no_other(acme: Tenant, alice: Member, bo: Member) -> None:
    """As by a process that was stopped, or cut off from the database, in the middle of a transaction."""
    kept, other = park(acme), park(acme)
    for each in (kept, other):
        hours_pass(each, 25)
    with owner(NAME) as session, session.transaction():
        session.execute("SELECT subject_lock(%s, %s)", [acme.pk, kept.subject])
        assert escalation.sweep() == 2
        assert (fresh(kept).status, fresh(other).status) == ("pending", "expired")
    escalation.sweep()
    assert fresh(kept).status == "expired"


def test_where_the_connection_breaks_each_is_handled_alone(
    acme: Tenant, alice: Member, bo: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [park(acme) for _number in range(3)]
    for each in found:
        hours_pass(each, 25)
    monkeypatch.setattr(flight, "_silence_query", lambda: "SELECT pg_terminate_backend(pg_backend_pid()), $1::text")
    assert escalation.sweep() == 3
    assert [fresh(each).status for each in found] == ["expired"] * 3


def test_each_request_is_looked_at_once_a_sweep(acme: Tenant, alice: Member, bo: Member) -> None:
    found = [park(acme) for _number in range(7)]
    for each in found:
        hours_pass(each, 25)
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM approvals_requestversion WHERE request_id = %s", [found[0].pk])
    assert escalation.sweep(limit=3) == 7
    assert [fresh(each).status for each in found] == ["pending", *["expired"] * 6]


def test_tenants_travel_apart(acme: Tenant, alice: Member, globex: Tenant) -> None:
    found = [park(tenant) for tenant in (acme, globex, acme, globex)]
    for each in found:
        hours_pass(each, 25)
    escalation.handle_together([(each.tenant_id, each.pk) for each in found])
    assert [fresh(each).status for each in found] == ["expired"] * 4
    escalation.handle_together([(globex.pk, park(acme).pk)])


def test_a_transaction_says_itself_what_became_of_it() -> None:
    _tenant = "SELECT coalesce(nullif(current_setting('app.tenant', true), ''), 'none')"
    good, bad, last = prepared.apart(
        [[(ENTER, ("acme",)), (_tenant, ())], [(ENTER, ("acme",)), ("SELECT 1 / $1::int", ("0",))], [(_tenant, ())]]
    )
    assert isinstance(bad, errors.DivisionByZero)
    assert not isinstance(good, OperationalError)
    assert not isinstance(last, OperationalError)
    assert [prepared.read(each[-1], tuple) for each in (good, last)] == [[("acme",)], [("none",)]]


def _asked_for(tenant: Tenant, keys: list[UUID]) -> int:
    """How many statements a plan for these takes."""
    with CaptureQueriesContext(connection) as captured:
        flight.plans(tenant.pk, keys, Known())
    return len(captured)


def test_people_levels_and_ways_out_are_read_once_for_all(
    acme: Tenant, alice: Member, bo: Member, mona: Member
) -> None:
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    found = [park(acme, a_call(initiators=(mona.pk,))) for _number in range(6)]
    for number, each in enumerate(found):
        hours_pass(each, 25 if number % 2 else 2)
    two, six = (_asked_for(acme, [each.pk for each in some]) for some in (found[:2], found))
    assert two == six
    made = flight.plans(acme.pk, [each.pk for each in found], Known())
    assert len(made.planned) == 6
    assert {UUID(str(each.id)) for each in made.planned} == {each.pk for each in found}
    assert flight.done(made) == []
    assert [fresh(each).status for each in found] == ["pending", "expired"] * 3
    assert asked(found[0]) == {"Alice", "Bo"}
