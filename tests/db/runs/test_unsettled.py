"""An outcome that nobody knows is told to those who may settle it: once, by their ways, without its parameters."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.core import mail
from django.db import connection

from approvals import wishes
from approvals.models import Delivery
from approvals.notifications import delivery, outbox
from approvals.notifications import unsettled as notices
from runs import commands, sweeping, switches, unsettled
from runs.entries import Closing, Opening
from runs.journal import Holder
from runs.models import Run
from tenants import doors, ids
from tenants.actors import COMMAND
from tenants.models import Event, Member, Tenant
from tenants.scope import scope
from tests.cast.journal import Started, ask, call, lapse
from tests.cast.people import actor, make_member

pytestmark = pytest.mark.django_db


def told(run: Started) -> list[tuple[str, int | None]]:
    """Who is told of which step."""
    with scope(run.tenant):
        rows = Delivery.objects.filter(kind="outcome_unknown", subject=f"run:{run.id}").order_by("seq", "address")
        return list(rows.values_list("address", "seq"))


def lose(run: Started) -> None:
    """The run's only call leaves, and nobody knows what became of it."""
    door = run.hold()
    ask(door, call(tool="send", effect="manual", arguments='{"iban": "DE75512108001245126199"}'), opening=Opening(2))
    door.close(Closing(2, "unknown", cause="server", not_done=False))
    door.attention("unknown_outcome")


def send(run: Started) -> list[Any]:
    """Let what is due leave; the mails that left, and what the run's story tells of them."""
    with scope(run.tenant):
        rows = list(Delivery.objects.filter(kind="outcome_unknown"))
    for row in rows:
        if claimed := delivery.claim(run.tenant, row.pk):
            assert not isinstance(claimed.parcel, str)
            delivery.record(claimed, delivery.parcels.send([claimed.parcel])[0])
    return list(mail.outbox)


def test_the_managers_are_told_once_and_never_those_who_started_the_run(
    her_run: Started, mona: Member, acme: Tenant, alice: Member
) -> None:
    max_ = make_member(acme, "Max", "manager")
    lose(her_run)
    assert told(her_run) == [(max_.email, 2)]
    with scope(her_run.tenant):
        unsettled.tell(her_run.id)
    assert told(her_run) == [(max_.email, 2)]


def test_the_message_leads_to_the_desk_and_keeps_the_parameters_behind_the_sign_in(
    run: Started, mona: Member, acme: Tenant
) -> None:
    lose(run)
    (message,) = send(run)
    assert message.to == [mona.email]
    assert message.subject == f"send may or may not have happened · clerk · {ids.reference(run.id)} · Acme"
    assert f"/t/acme/outcomes/?step={run.id}-2" in message.body
    assert "The link opens the page once you have signed in." in message.body
    assert "you alone" not in message.body + str(message.alternatives)
    assert "DE7551" not in message.body + str(message.alternatives)
    with scope(run.tenant):
        event = Event.objects.filter(subject=f"run:{run.id}").latest("seq")
        assert (event.name, event.data["step"], event.data["kind"]) == ("notification.sent", 2, "outcome_unknown")


def test_the_message_speaks_chinese_to_those_who_do(run: Started, mona: Member) -> None:
    with scope(run.tenant):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    lose(run)
    (message,) = send(run)
    assert "可能已经发生，也可能没有" in message.subject
    assert "No answer" not in message.body


def test_what_is_settled_before_the_message_leaves_is_not_told(run: Started, mona: Member) -> None:
    lose(run)
    run.do(commands.settle, 2, outcome="completed", note="Seen.", actor=actor(mona))
    assert send(run) == []
    with scope(run.tenant):
        assert Delivery.objects.get(kind="outcome_unknown").error == "no longer needed"


def test_what_is_settled_while_the_message_is_being_written_hinders_it_not(
    run: Started, mona: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(run)
    looks: list[Any] = []

    def settled_after_the_first_look(row: Delivery) -> Any:
        looks.append(row)
        return found(row) if len(looks) == 1 else None

    found = notices.of
    monkeypatch.setattr(notices, "of", settled_after_the_first_look)
    assert len(send(run)) == 1


def no_manager(run: Started, mona: Member) -> None:
    Member.objects.filter(pk=mona.pk).update(roles=["reviewer"])


def switched_off(run: Started, mona: Member) -> None:
    Member.objects.filter(pk=mona.pk).update(active=False)


def restricted(run: Started, mona: Member) -> None:
    switches.switch_agent("clerk", actor=COMMAND, restricted=True)


def became_an_initiator(run: Started, mona: Member) -> None:
    Run.objects.filter(pk=run.id).update(initiators=[mona.pk])


@pytest.mark.parametrize("how", [no_manager, switched_off, restricted, became_an_initiator])
def test_who_may_not_settle_any_more_when_the_message_leaves_is_not_written_to(
    run: Started, mona: Member, how: Callable[[Started, Member], None]
) -> None:
    lose(run)
    with scope(run.tenant):
        how(run, mona)
    assert send(run) == []
    with scope(run.tenant):
        assert Delivery.objects.get(kind="outcome_unknown").error == "no longer needed"


@pytest.mark.parametrize("end", [lose, lambda run: cancelled(run)])
def test_what_goes_wrong_in_telling_loses_nothing_that_is_recorded(
    run: Started, mona: Member, end: Callable[[Started], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    monkeypatch.setattr(outbox, "tell_of_outcome", broken)
    end(run)
    assert run.journal.step(2).status == "unknown"
    assert run.row.status in ("needs_attention", "cancelled")
    assert told(run) == []


def test_who_wishes_not_to_hear_of_it_by_mail_is_not_written_to(run: Started, mona: Member) -> None:
    with scope(run.tenant):
        wishes.change(mona, actor=actor(mona), changes={"kinds": {"outcome_unknown": {"email": False}}})
    lose(run)
    assert told(run) == []


def test_a_call_that_is_done_again_and_is_lost_again_is_told_again(run: Started, mona: Member) -> None:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    door.close(Closing(2, "unknown", cause="server", not_done=False))
    door.attention("unknown_outcome")
    run.do(commands.settle, 2, outcome="do_again", note="It never arrived.", actor=actor(mona))
    again = run.hold()
    again.open(Opening(2))
    again.close(Closing(2, "unknown", cause="server", not_done=False))
    assert told(run) == [(mona.email, 2), (mona.email, 2)]
    assert len(send(run)) == 1  # The first was not on its way yet, and tells nothing beside the second.


def between_attempts(run: Started) -> Any:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    door.close(Closing(2, "started", cause="server", not_done=False, delay=60))
    return door


def failed(run: Started) -> None:
    between_attempts(run).finish("failed", reason="max_steps", message="Too many.", asked=False)


def cancelled(run: Started) -> None:
    between_attempts(run)
    run.do(commands.cancel)


def cancelled_in_hand(run: Started) -> None:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    run.do(commands.cancel)
    door.close(Closing(2, "started", cause="server", not_done=False, delay=5))


def cancelled_and_lost(run: Started) -> None:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    run.do(commands.cancel)
    lapse(run)
    sweeping.leases(10)


@pytest.mark.parametrize("how", [failed, cancelled, cancelled_in_hand, cancelled_and_lost])
def test_however_an_outcome_becomes_unknown_it_is_told(
    run: Started, mona: Member, how: Callable[[Started], None]
) -> None:
    how(run)
    assert run.journal.step(2).status == "unknown"
    assert told(run) == [(mona.email, 2)]


def closes(door: Holder) -> None:
    door.close(Closing(2, "started", cause="server", not_done=False, delay=5))


def is_swept(_door: Holder) -> None:
    sweeping.leases(10)


@pytest.mark.parametrize("act", [closes, is_swept])
def test_who_dies_before_it_is_told_has_recorded_nothing_and_the_next_one_does_both(
    run: Started, mona: Member, act: Callable[[Holder], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(Exception):
        pass

    def die(_run: Any) -> None:
        raise Died

    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2))
    run.do(commands.cancel)
    if act is is_swept:
        lapse(run)
    with monkeypatch.context() as patch, suppress(Died):
        patch.setattr(unsettled, "tell", die)
        act(door)
    assert run.journal.step(2).status == "started"
    lapse(run)
    sweeping.leases(10)
    assert run.journal.step(2).status == "unknown"
    assert told(run) == [(mona.email, 2)]


def test_where_an_agent_is_restricted_only_those_who_may_settle_are_told(
    run: Started, mona: Member, acme: Tenant
) -> None:
    max_ = make_member(acme, "Max", "manager")
    with scope(run.tenant):
        switches.switch_agent("clerk", actor=COMMAND, restricted=True)
        switches.permit("clerk", max_.pk, permissions=["view_runs", "operate_runs"], actor=COMMAND)
        switches.permit("clerk", mona.pk, permissions=["view_runs"], actor=COMMAND)
    lose(run)
    assert told(run) == [(max_.email, 2)]


def test_a_run_that_goes_well_asks_nobody(run: Started, mona: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(unsettled, "tell", asked.append)
    door = run.hold()
    ask(door, call(), opening=Opening(2))
    door.close_and_open(Closing(2, "completed", result='"paid"'), "model_turn")
    door.close(Closing(3, "completed", result="done"))
    door.finish("succeeded", result="done", asked=False)
    assert asked == []
    assert told(run) == []


def test_a_process_takes_only_messages_that_it_has_words_for(run: Started, mona: Member) -> None:
    lose(run)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM due_parcels(10)")  # As the release before this kind asks.
        assert cursor.fetchone() == (0,)
    assert len(doors.due_in_lanes("messages", 10, among=outbox.KINDS)) == 1
    with scope(run.tenant):
        Delivery.objects.update(kind="of_a_later_release")
    assert doors.due_in_lanes("messages", 10, among=outbox.KINDS) == []
    with scope(run.tenant):
        Delivery.objects.update(kind="asked")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM due_parcels(10)")
        assert cursor.fetchone() == (1,)
