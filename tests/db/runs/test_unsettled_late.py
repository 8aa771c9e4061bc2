"""An unknown outcome not told at once is told by a sweep, once; where nobody may settle it, admins hear why."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from approvals.models import Delivery
from approvals.notifications import outbox
from runs import commands, switches, unsettled
from runs.models import Run, Step
from tenants import locks
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.journal import Started, begin
from tests.cast.people import actor, make_member
from tests.db.runs.test_unsettled import lose, send, told

pytestmark = pytest.mark.django_db


def broken(*_: Any, **__: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


@pytest.fixture
def untold(run: Started, mona: Member, monkeypatch: pytest.MonkeyPatch) -> Started:
    """A run with an unknown outcome that nobody could be told of."""
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "tell_of_outcome", broken)
        lose(run)
    assert told(run) == []
    return run


def test_what_could_not_be_told_at_once_is_told_by_the_sweep_and_once(untold: Started, mona: Member) -> None:
    assert unsettled.sweep() == 1
    unsettled.sweep()
    assert told(untold) == [(mona.email, 2)]
    assert len(send(untold)) == 1
    unsettled.sweep()
    assert len(send(untold)) == 1


def test_the_sweep_that_fails_too_hinders_no_other_run_and_the_next_one_tells(
    untold: Started, mona: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = begin_beside(untold)
    with monkeypatch.context() as patch:
        real = outbox.tell_of_outcome

        def picky(subject: str, *rest: Any, **values: Any) -> None:
            (broken if subject == f"run:{untold.id}" else real)(subject, *rest, **values)

        patch.setattr(outbox, "tell_of_outcome", picky)
        assert unsettled.sweep() == 2
    assert (told(untold), told(other)) == ([], [(mona.email, 2)])
    unsettled.sweep()
    assert told(untold) == [(mona.email, 2)]


def test_more_than_one_look_takes_are_all_told(untold: Started, mona: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to settle the first ones for the others to be told."""
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "tell_of_outcome", broken)
        others = [begin_beside(untold) for _ in range(2)]
    monkeypatch.setattr(unsettled, "BATCH", 1)
    assert unsettled.sweep() == 3
    assert [told(each) for each in (untold, *others)] == [[(mona.email, 2)]] * 3


def begin_beside(run: Started) -> Started:
    other = begin(Tenant.objects.get(pk=run.tenant))
    lose(other)
    return other


def test_what_is_settled_just_before_the_sweep_has_its_lock_is_not_told(
    untold: Started, mona: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settled_first(subject: str) -> None:
        locks.hold(subject)
        commands.settle(untold.id, 2, outcome="completed", note="Seen.", actor=actor(mona))

    monkeypatch.setattr(unsettled, "hold", settled_first)
    assert unsettled.sweep() == 1
    assert told(untold) == []


def test_what_is_unknown_for_long_is_not_looked_at(untold: Started) -> None:
    with scope(untold.tenant):
        Step.objects.filter(run_id=untold.id).update(unknown_since=timezone.now() - timedelta(days=8))
    assert unsettled.sweep() == 0


def test_who_may_settle_only_now_is_told_by_the_sweep(run: Started, mona: Member, acme: Tenant) -> None:
    lose(run)
    max_ = make_member(acme, "Max", "manager")
    unsettled.sweep()
    assert told(run) == [(max_.email, 2), (mona.email, 2)]


def no_manager(run: Started, mona: Member) -> str:
    Member.objects.filter(pk=mona.pk).update(roles=["reviewer"])
    return "nobody here is one. Give a member that role."


def started_it(run: Started, mona: Member) -> str:
    Run.objects.filter(pk=run.id).update(initiators=[mona.pk])
    return "every manager did. Give another member that role."


def restricted(run: Started, mona: Member) -> str:
    switches.switch_agent("clerk", actor=COMMAND, restricted=True)
    return "Give one the permissions to see and to operate its runs."


NOBODY = pytest.mark.parametrize(
    ("how", "page"),
    [(no_manager, "settings/people/"), (started_it, "settings/people/"), (restricted, "settings/agents/")],
)


@NOBODY
def test_where_nobody_may_settle_the_admins_are_told_why_and_what_to_do(
    run: Started, mona: Member, ravi: Member, how: Callable[[Started, Member], str], page: str
) -> None:
    with scope(run.tenant):
        what_to_do = how(run, mona)
    lose(run)
    assert told(run) == [(ravi.email, 2)]
    (message,) = send(run)
    assert message.subject.startswith("send may or may not have happened, and nobody may settle it · clerk · ")
    assert what_to_do in message.body.replace("\n", " ")
    assert f"/t/acme/{page}" in message.body
    assert "DE7551" not in message.body + str(message.alternatives)


@NOBODY
def test_where_nobody_may_any_more_the_sweep_tells_the_admins(
    run: Started, mona: Member, ravi: Member, how: Callable[[Started, Member], str], page: str
) -> None:
    lose(run)
    assert told(run) == [(mona.email, 2)]
    with scope(run.tenant):
        how(run, mona)
    unsettled.sweep()
    unsettled.sweep()
    assert told(run) == [(mona.email, 2), (ravi.email, 2)]


def test_an_admin_is_not_written_to_once_somebody_may_settle_and_that_one_is(
    her_run: Started, mona: Member, ravi: Member, acme: Tenant
) -> None:
    lose(her_run)
    assert told(her_run) == [(ravi.email, 2)]
    max_ = make_member(acme, "Max", "manager")
    unsettled.sweep()
    assert [message.to for message in send(her_run)] == [[max_.email]]
    with scope(her_run.tenant):
        assert Delivery.objects.get(address=ravi.email).error == "no longer needed"


def test_an_admin_who_becomes_a_manager_is_told_that_it_is_theirs_now(her_run: Started, ravi: Member) -> None:
    lose(her_run)
    assert len(send(her_run)) == 1
    with scope(her_run.tenant):
        Member.objects.filter(pk=ravi.pk).update(roles=["admin", "manager"])
    unsettled.sweep()
    _first, second = send(her_run)
    assert f"/t/acme/outcomes/?step={her_run.id}-2" in second.body


def test_the_sweep_reads_the_steps_of_marked_runs_alone(run: Started, mona: Member) -> None:
    lose(run)
    with scope(run.tenant), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('enable_seqscan', 'off', true)")
        plan = unsettled.lately().explain()
    assert "run_id = " in plan, plan
