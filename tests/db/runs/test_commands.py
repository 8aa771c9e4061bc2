"""What people do to a run, what refuses them, and what is kept of it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db.models.functions import Now

from runs import commands, sweeping
from runs.entries import Closing, Opening
from runs.models import AgentVersion, Run, Step
from tenants import agents, keys, members
from tenants.actors import COMMAND
from tenants.models import AuditEntry, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.journal import Started, ask, begin, call

pytestmark = pytest.mark.django_db


def _refused(code: str, status: int) -> Any:
    return pytest.raises(Refusal, check=lambda refusal: (refusal.code, refusal.status) == (code, status))


def test_a_started_run_is_queued_with_its_first_event_and_its_audit_entry(her_run: Started, mona: Member) -> None:
    row = her_run.row
    assert (row.status, row.version, row.initiators) == ("queued", "1", [mona.pk])
    assert her_run.events() == ["run.queued"]
    assert her_run.journal.run.input == '{"case": "1"}'
    with scope(her_run.tenant):
        assert AuditEntry.objects.filter(action="run.started", target=f"run:{her_run.id}").count() == 1


@pytest.mark.parametrize(
    "text", ["NaN", '{"a": 1, "a": 2}', '"\\u0000"', "[" * 20_000 + "]" * 20_000, '"' + "x" * 2**20 + '"']
)
def test_an_input_that_cannot_be_kept_exactly_is_refused(clerk: Tenant, text: str) -> None:
    with scope(clerk.pk), _refused("input_invalid", 422):
        commands.start(commands.Start(agent="clerk", input=text), actor=COMMAND)


@pytest.mark.parametrize(
    ("wanted", "code", "status"),
    [
        ({"agent": "nobody"}, "agent_unknown", 404),
        ({"version": "99"}, "version_unknown", 422),
        ({"deadline": datetime(2020, 1, 1, tzinfo=UTC)}, "deadline_passed", 422),
        ({"deadline": datetime(2099, 1, 1)}, "deadline_invalid", 422),  # noqa: DTZ001
        ({"labels": {"a": "x" * 300}}, "labels_invalid", 422),
        ({"labels": {"a": "\x00"}}, "invalid", 422),
        ({"title": "x" * 300}, "invalid", 422),
    ],
)
def test_a_start_that_cannot_be_is_refused_with_its_reason(
    clerk: Tenant, wanted: dict[str, Any], code: str, status: int
) -> None:
    with scope(clerk.pk), _refused(code, status):
        commands.start(commands.Start(**{"agent": "clerk", "input": "1", **wanted}), actor=COMMAND)


def test_a_stopped_or_switched_off_agent_starts_no_run(clerk: Tenant) -> None:
    with scope(clerk.pk):
        agents.switch("clerk", actor=COMMAND, stopped=True)
        with _refused("agent_stopped", 409):
            commands.start(commands.Start(agent="clerk", input="1"), actor=COMMAND)
        agents.switch("clerk", actor=COMMAND, enabled=False, stopped=False)
        with _refused("agent_unknown", 404):
            commands.start(commands.Start(agent="clerk", input="1"), actor=COMMAND)


def test_the_newest_version_that_a_live_worker_knows_is_pinned(clerk: Tenant) -> None:
    AgentVersion.objects.create(agent="clerk", version="2", known_until=Now() + timedelta(hours=1))
    AgentVersion.objects.create(agent="clerk", version="3", known_until=Now() - timedelta(hours=1))
    assert begin(clerk).row.version == "2"


def test_the_owner_of_a_service_key_and_the_one_it_is_for_are_initiators(
    clerk: Tenant, mona: Member, bo: Member
) -> None:
    with scope(clerk.pk):
        _key, text = keys.create(mona, actor=COMMAND, scopes=["runs:start"], service=True)
    bearer = keys.verify(text)
    assert bearer is not None
    assert begin(clerk, actor=bearer.actor, on_behalf_of=bo.pk).row.initiators == [mona.pk, bo.pk]


def test_nobody_acts_for_a_stranger(clerk: Tenant, stranger: Member) -> None:
    with scope(clerk.pk), _refused("member_unknown", 422):
        commands.start(commands.Start(agent="clerk", input="1", on_behalf_of=stranger.pk), actor=COMMAND)


@pytest.mark.parametrize("command", [commands.cancel, commands.pause, commands.resume, commands.retry])
def test_a_foreign_run_answers_like_an_unknown_one(run: Started, globex: Tenant, command: Any) -> None:
    with scope(globex.pk), _refused("not_found", 404):
        command(run.id, actor=COMMAND)


@pytest.mark.parametrize("command", [commands.cancel, commands.pause, commands.resume, commands.retry])
def test_a_cancelled_run_is_changed_by_nothing_and_the_refusal_names_who_won(run: Started, command: Any) -> None:
    run.do(commands.cancel, actor=COMMAND)
    with pytest.raises(Refusal) as refused:
        run.do(command)
    assert refused.value.status == 409
    assert refused.value.standing is not None
    assert refused.value.standing["status"] == "cancelled"
    assert refused.value.standing["by"]["kind"] == "command"
    assert run.row.status == "cancelled"


def test_each_command_leaves_its_event_and_its_audit_entry(run: Started, mona: Member) -> None:
    actor = members.actor_of(mona)
    run.do(commands.comment, text="Looking at it.", actor=actor)
    run.do(commands.pause, actor=actor)
    run.do(commands.resume, actor=actor)
    run.do(commands.cancel, actor=actor, comment="Not needed any more.")
    assert run.events() == ["run.queued", "run.commented", "run.paused", "run.resumed", "run.cancelled"]
    with scope(run.tenant):
        actions = AuditEntry.objects.filter(target=f"run:{run.id}").order_by("seq").values_list("action", flat=True)
        assert list(actions) == ["run.started", "run.commented", "run.paused", "run.resumed", "run.cancelled"]


def _failed(run: Started) -> None:
    door = run.hold()
    ask(door, call(), call(call_id="c2"))
    door.open(Opening(2, key="k"))
    door.close(Closing(2, "completed", result="paid"))
    door.open_turn()
    door.close(Closing(4, "failed", cause="permission", message="401"))
    door.finish("failed", reason="model")


def test_a_retry_reopens_exactly_the_turn_that_failed(run: Started, mona: Member) -> None:
    _failed(run)
    row = run.do(commands.retry, actor=members.actor_of(mona))
    assert (row.status, row.finished_at, row.initiators) == ("queued", None, [mona.pk])
    steps = run.journal.steps
    assert [(s.status, s.reason) for s in steps] == [
        ("completed", ""), ("completed", ""), ("declined", "cancelled"), ("planned", ""),
    ]  # fmt: skip
    assert (steps[3].tries, steps[3].spent) == (1, 1)
    assert run.hold().open(Opening(4)).tries == 2


def test_a_run_that_missed_its_deadline_can_be_retried_without_one(run: Started) -> None:
    with scope(run.tenant):
        Run.objects.filter(pk=run.id).update(deadline=TransactionNow() - timedelta(seconds=1))
    sweeping.deadlines(10)
    row = run.do(commands.retry)
    assert (row.status, row.deadline) == ("queued", None)


@pytest.mark.parametrize(
    ("reason", "budget", "code"),
    [
        ("unknown_outcome", None, "settle_first"),
        ("version", None, "version"),
        ("budget", None, "budget_required"),
        ("budget", {"tokens": -1}, "invalid"),
        ("budget", {"wishes": 3}, "invalid"),
    ],
)
def test_what_needs_more_than_resume_says_what(run: Started, reason: str, budget: Any, code: str) -> None:
    run.hold().attention(reason)
    with pytest.raises(Refusal) as refused:
        run.do(commands.resume, budget=budget)
    assert refused.value.code == code


@pytest.mark.parametrize(("reason", "budget"), [("permission", None), ("crash_loop", None), ("budget", {"tokens": 5})])
def test_resume_leads_out_of_what_it_can(run: Started, reason: str, budget: Any) -> None:
    run.hold().attention(reason)
    row = run.do(commands.resume, budget=budget)
    assert (row.status, row.reason, row.budget) == ("queued", "", budget or {})


def test_a_run_of_a_stopped_agent_is_not_resumed(run: Started) -> None:
    run.do(commands.pause)
    with scope(run.tenant):
        agents.switch("clerk", actor=COMMAND, stopped=True)
    with pytest.raises(Refusal, match="agent_stopped"):
        run.do(commands.resume)


def _unknown(run: Started, *, cause: str = "server") -> None:
    door = run.hold()
    ask(door, call(effect="manual"), opening=Opening(2, key="k"))
    door.close(Closing(2, "unknown", cause=cause, not_done=False))
    door.attention("unknown_outcome")


@pytest.mark.parametrize(
    ("outcome", "status", "generation"),
    [("completed", "completed", 0), ("not_done", "not_done", 0), ("do_again", "planned", 1)],
)
def test_settling_the_last_unknown_outcome_queues_the_run(
    run: Started, outcome: str, status: str, generation: int
) -> None:
    _unknown(run)
    row = run.do(commands.settle, 2, outcome=outcome, note="I looked at the bank.")
    step = run.journal.step(2)
    assert (row.status, step.status, step.generation) == ("queued", status, generation)
    assert run.events()[-2:] == ["step.settled", "run.resumed"]


def test_a_result_given_by_a_person_is_what_the_model_reads(run: Started) -> None:
    _unknown(run)
    run.do(commands.settle, 2, outcome="completed", result='{"paid": 1.10}', note="Seen in the ledger.")
    assert run.journal.step(2).result == '{"paid": 1.10}'


def test_an_initiator_never_settles(her_run: Started, mona: Member) -> None:
    _unknown(her_run)
    with pytest.raises(Refusal, match="initiator") as refused:
        her_run.do(commands.settle, 2, outcome="completed", note="Trust me.", actor=members.actor_of(mona))
    assert refused.value.status == 403
    assert her_run.journal.step(2).status == "unknown"


def test_nothing_is_done_again_for_a_finished_run(run: Started) -> None:
    _unknown(run)
    run.do(commands.cancel)
    with pytest.raises(Refusal, match="run_finished"):
        run.do(commands.settle, 2, outcome="do_again", note="Once more.")
    run.do(commands.settle, 2, outcome="not_done", note="It never arrived.")
    assert (run.journal.step(2).status, run.row.status) == ("not_done", "cancelled")


def test_a_call_that_may_still_be_running_is_not_settled(run: Started) -> None:
    _unknown(run, cause="timeout")
    with pytest.raises(Refusal, match="too_early"):
        run.do(commands.settle, 2, outcome="not_done", note="Nothing came.")
    with scope(run.tenant):
        Step.objects.filter(run_id=run.id, seq=2).update(last_opened_at=Now() - timedelta(hours=1))
    run.do(commands.settle, 2, outcome="not_done", note="Nothing came.")


def test_an_outcome_is_settled_once(run: Started) -> None:
    _unknown(run)
    run.do(commands.settle, 2, outcome="completed", note="Seen.")
    with pytest.raises(Refusal, match="not_unknown"):
        run.do(commands.settle, 2, outcome="not_done", note="Not seen.")


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "x" * 10_001])
def test_a_comment_that_says_nothing_or_cannot_be_kept_is_refused(run: Started, text: str) -> None:
    with pytest.raises(Refusal):
        run.do(commands.comment, text=text)
    assert run.events() == ["run.queued"]
