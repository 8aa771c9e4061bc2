"""The state tables say what the design says, and nothing else."""

import pytest

from runs import states
from runs.states import RUN, TOOL, TURN

UNFINISHED = ["queued", "running", "waiting_approval", "sleeping", "needs_attention", "paused"]


@pytest.mark.parametrize("state", UNFINISHED)
def test_any_unfinished_run_can_be_cancelled_or_fail(state: str) -> None:
    assert RUN.allows(state, "cancelled")
    assert RUN.allows(state, "failed")


@pytest.mark.parametrize("state", set(UNFINISHED) - {"paused"})
def test_any_unfinished_run_can_be_paused(state: str) -> None:
    assert RUN.allows(state, "paused")


@pytest.mark.parametrize("state", ["waiting_approval", "sleeping", "needs_attention", "paused"])
def test_a_parked_or_paused_run_goes_on_through_the_queue_alone(state: str) -> None:
    assert RUN.allows(state, "queued")
    assert not RUN.allows(state, "running")
    assert not RUN.allows(state, "succeeded")


def test_only_a_running_run_succeeds() -> None:
    assert [old for old in RUN.states if RUN.allows(old, "succeeded")] == ["running"]


def test_of_the_finished_states_failed_alone_leads_anywhere() -> None:
    assert RUN.moves["succeeded"] == RUN.moves["cancelled"] == frozenset()
    assert RUN.moves["failed"] == {"queued"}


def test_a_run_begins_queued() -> None:
    assert RUN.first == {"queued"}


def test_only_a_planned_or_started_tool_step_can_be_declined() -> None:
    assert {old for old in TOOL.states if TOOL.allows(old, "declined")} == {"planned", "started"}


def test_an_unknown_outcome_is_settled_in_three_ways() -> None:
    assert TOOL.moves["unknown"] == {"completed", "not_done", "planned"}


def test_a_turn_knows_neither_unknown_nor_declined() -> None:
    assert TURN.states == {"planned", "started", "completed", "failed", "cancelled"}
    assert TURN.moves["failed"] == {"planned"}


@pytest.mark.parametrize(("old", "lost", "name"), [(None, False, "run.queued"), ("running", True, "run.recovered")])
def test_the_event_of_the_queue_says_how_it_came_to_that(old: str | None, lost: bool, name: str) -> None:
    assert states.run_event(old, "queued", lost=lost) == name
    assert states.run_event("paused", "queued") == "run.resumed"


def test_every_state_of_a_run_has_its_event() -> None:
    assert len({states.run_event("running", state) for state in RUN.states}) == len(RUN.states)
