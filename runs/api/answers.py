"""Runs, steps and events as the API writes them: names and order bind; numbers are exact."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from approvals.calls import concealed
from runs.askings import Asking
from runs.models import Attempt, Run, Step
from runs.states import ATTENTION, SLEEPING, TOOL_CALL
from runs.telling import Brief, Detail, Used, Wide, is_finished
from tenants import exact_json
from tenants.events import EventRow
from tenants.models import Event

Answer = dict[str, Any]
GATED = {"pending": "waiting_approval", "approved": "approved"}


def run_answer(run: Run, brief: Brief) -> Answer:
    """A run."""
    text = {name: wide for (run_id, name), wide in brief.texts.items() if run_id == run.id}
    return {
        "id": str(run.id),
        "agent": run.agent,
        "version": run.version,
        "title": run.title,
        "status": run.status,
        "reason": run.reason or None,
        "input": value_of(text.get("input")),
        "result": text_of(text.get("result")) if run.status == "succeeded" else None,
        "labels": run.labels,
        "deadline": run.deadline,
        "initiators": [_member(each, brief.names) for each in run.initiators],
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "finished_at": run.finished_at,
        "waiting_on": list(_waits(run, brief)),
        "usage": _usage(brief.used.get(run.id, Used())),
    }


def step_answer(step: Step, detail: Detail, settled: Mapping[int, Event]) -> Answer:
    """A step. A tool call's result is the JSON value that came; what declined it is the text the agent read.
    `settled` are the last statements of persons on calls whose answer never came, by step."""
    asking = detail.asking.get(step.seq)
    result = detail.text(step.seq, "result")
    spoken = step.status in ("declined", "not_done") or step.kind != TOOL_CALL
    return {
        "seq": step.seq,
        "kind": step.kind,
        "status": status_of(step, asking),
        "tool": step.tool or None,
        "arguments": arguments_of(step, detail),
        "digest": step.digest or None,
        "rationale": text_of(detail.text(step.seq, "rationale")),
        "result": text_of(result) if spoken else value_of(result),
        "reason": step.reason or None,
        "request": str(asking.id) if asking else None,
        "attempts": [_attempt(each) for each in detail.attempts.get(step.seq, ())],
        "settled": _settled(settled.get(step.seq)),
    }


def arguments_of(step: Step, detail: Detail) -> Any:
    """The bound arguments, sensitive ones masked; where they lie in storage, only where."""
    wide, sensitive = detail.text(step.seq, "arguments"), detail.tools.get(step.tool, {}).get("sensitive") or ()
    if sensitive and wide is not None and not wide.whole:
        return {"payload": str(wide.payload)}
    return concealed(value_of(wide), sensitive=sensitive)


def event_answer(row: EventRow) -> Answer:
    """An event."""
    return {
        "seq": row.seq,
        "name": row.name,
        "at": row.at,
        "actor": row.actor,
        "message": row.message,
        "data": row.data,
    }


def status_of(step: Step, asking: Asking | None) -> str:
    """The step's state; a planned one that people hold is shown by what its request says."""
    if step.status == "planned" and asking is not None:
        return GATED.get(asking.status, step.status)
    return step.status


def value_of(wide: Wide | None) -> Any:
    """The JSON value of a text; a text that is no JSON as it is; a reference where it lies in storage."""
    if wide is None or wide.payload:
        return _stored(wide)
    try:
        return exact_json.loads(wide.body)
    except exact_json.BadJson:
        return wide.body


def text_of(wide: Wide | None) -> Any:
    """The text as it is; a reference where it lies in storage."""
    return wide.body if wide is not None and not wide.payload else _stored(wide)


def _stored(wide: Wide | None) -> Answer | None:
    return None if wide is None else {"payload": str(wide.payload), "beginning": wide.body}


def _settled(row: Event | None) -> Answer | None:
    """What a person stated of a call whose answer never came."""
    if row is None:
        return None
    return {"outcome": row.data.get("outcome"), "by": row.actor, "at": row.at, "note": row.message}


def _attempt(row: Attempt) -> Answer:
    return {
        "number": row.number,
        "kind": row.kind,
        "opened_at": row.opened_at,
        "closed_at": row.closed_at,
        "cause": row.cause or None,
        "message": row.message or None,
        "next_at": row.next_at,
    }


def _usage(used: Used) -> Answer:
    return {
        "model_turns": used.model_turns,
        "tool_calls": used.tool_calls,
        "tokens": used.tokens,
        "cost": None if used.cost is None else format(used.cost.normalize(), "f"),
        "seconds": Decimal(str(round(used.worked, 3))),
    }


def _member(member: UUID, names: Mapping[UUID, str]) -> Answer:
    return {"member": str(member), "name": names.get(member, "")}


def _waits(run: Run, brief: Brief) -> Iterable[Answer]:
    if is_finished(run):
        return
    for asking in brief.asking.get(run.id, ()):
        people = [_member(each, brief.names) for each in asking.asked]
        yield _wait("approval", asking.step, str(asking.id), people, asking.opened_at, asking.deadline)
    for step, since in brief.unknown.get(run.id, ()):
        yield _wait("outcome", step, None, [], since, None)
    if run.status == SLEEPING:
        yield _wait("time", None, None, [], run.updated_at, run.due_at)
    if run.status == ATTENTION and run.reason != "unknown_outcome":
        yield _wait("attention", None, None, [], run.updated_at, None)


def _wait(kind: str, step: int | None, request: str | None, members: list[Answer], since: Any, until: Any) -> Answer:
    return {"kind": kind, "step": step, "request": request, "members": members, "since": since, "until": until}
