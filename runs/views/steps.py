"""The timeline: steps of a run as a person reads them; pure, from what `telling` has read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from approvals.calls import MASK, sentence
from approvals.display import Shown, beginning, shown
from runs import outcomes
from runs.askings import Asking
from runs.models import Attempt, Step
from runs.states import CANCELLED, MODEL_TURN, TOOL_CALL
from runs.telling import Detail, Wide
from runs.views.shapes import AttemptView, Param, Settled, StepRequest, StepView
from tenants import exact_json, wording
from tenants.events import EventRow

BEGINNING = 280
KINDS = {"model_turn": "model", "tool_call": "tool"}
CRASHED = "crashed"
GATED = {"pending": "waiting_approval", "approved": "approved"}
ENDED = frozenset({"completed", "failed", "declined", "not_done", "cancelled"})


class Timeline:
    """Builds the steps of one run; `base` is the tenant's address, `url` the run's."""

    def __init__(
        self,
        detail: Detail,
        *,
        base: str,
        url: str,
        progress: Mapping[int, EventRow] | None = None,
        names: Mapping[UUID, str] | None = None,
        settled: Mapping[int, Settled] | None = None,
    ) -> None:
        self.detail = detail
        self.base = base
        self.url = url
        self.progress = progress or {}
        self.names = names or {}
        self.settled = settled or {}

    def steps(self) -> list[StepView]:
        """All of them, in order."""
        return [self.step(step) for step in self.detail.steps]

    def step(self, step: Step) -> StepView:
        """One step."""
        attempts = self.detail.attempts.get(step.seq, ())
        asking = self.detail.asking.get(step.seq)
        status = shown_status(step, asking, attempts)
        result = self.detail.text(step.seq, "result")
        plain = step.kind == TOOL_CALL and status == "completed"
        settled = self.settled.get(step.seq)
        tells = status in ("completed", "not_done") and step.kind != MODEL_TURN
        tells = tells and not (result and outcomes.worded(result.body))  # The note says it already.
        return StepView(
            seq=step.seq,
            kind=KINDS.get(step.kind, step.kind),
            status=status,
            title=self.title(step),
            tool=step.tool,
            risk=self.risk(step) if step.kind == TOOL_CALL else "",
            reason=self.reason(step),
            at=self.at(step),
            seconds=worked(attempts),
            tokens=None if step.tokens_in is None else step.tokens_in + (step.tokens_out or 0),
            tries=sum(1 for attempt in attempts if attempt.kind == "call"),
            attempts=[attempt_view(attempt) for attempt in attempts] if worth_telling(attempts) else [],
            arguments=self.params(step),
            rationale=_maybe(self.detail.text(step.seq, "rationale")),
            result=_beginning(result, plain=plain) if tells else None,
            result_length=result.length if result else 0,
            result_url=self.result_url(step, result) if tells else "",
            reason_text=self.reason_text(step, status, attempts),
            request=self.request(asking) if asking else None,
            settled=settled,
            wants=self.wants(step) if step.kind == MODEL_TURN and status == "completed" else None,
            **self.told(step, status),
        )

    def reason(self, step: Step) -> str:
        """Its reason; `failed_with` where it was closed as the run failed, so that nobody is said to have stopped it.

        A run that was retried since, and then stopped, has asked its model again after such a step.
        """
        if step.reason != "cancelled":
            return step.reason
        gone_on = any(each.kind == MODEL_TURN and each.seq > step.seq for each in self.detail.steps)
        return "failed_with" if gone_on or self.detail.run.status != CANCELLED else "cancelled"

    def title(self, step: Step) -> Shown | None:
        """The act as a sentence, from the arguments that count; None for what is no tool call."""
        return shown(self.sentence(step)) if step.kind == TOOL_CALL else None

    def sentence(self, step: Step) -> str:
        """The same as plain text."""
        asking = self.detail.asking.get(step.seq)
        if asking and asking.title:
            return asking.title
        tool = self.detail.tools.get(step.tool)
        values = self.values(step)
        if tool is None or not isinstance(values, dict):
            return step.tool
        return sentence(str(tool["summary"]), values, sensitive=self.sensitive(step))

    def values(self, step: Step) -> Any:
        """The bound arguments that count as a value, or None where there are none."""
        asking = self.detail.asking.get(step.seq)
        wide = self.detail.text(step.seq, "arguments")
        text = asking.arguments if asking else wide.body if wide and wide.whole else ""
        try:
            return exact_json.loads(text)
        except exact_json.BadJson:
            return None

    def params(self, step: Step) -> list[Param]:
        """The bound arguments, each as text exactly as it counts; sensitive ones masked."""
        values = self.values(step)
        if not isinstance(values, dict):
            return []
        hidden = self.sensitive(step)
        return [param(name, value, masked=name in hidden) for name, value in values.items()]

    def sensitive(self, step: Step) -> Sequence[str]:
        """The names of the tool's parameters that are never shown."""
        return [str(name) for name in self.detail.tools.get(step.tool, {}).get("sensitive") or ()]

    def risk(self, step: Step) -> str:
        """The risk of the call: the request's where there is one, else the tool's in this tenant."""
        asking = self.detail.asking.get(step.seq)
        return asking.risk if asking else self.detail.risks.get(step.tool, "")

    def at(self, step: Step) -> datetime:
        """When it began: its first attempt, else when people were asked, else when the model wanted it."""
        attempts = self.detail.attempts.get(step.seq)
        if attempts:
            return attempts[0].opened_at
        asking = self.detail.asking.get(step.seq)
        turn = self.detail.attempts.get(step.turn)
        if asking:
            return asking.opened_at
        return (turn[-1].closed_at or turn[-1].opened_at) if turn else self.detail.run.created_at

    def wants(self, step: Step) -> Shown | None:
        """What the model asked for in this turn, as its own sentences, or its closing words."""
        calls = [self._wanted(each) for each in self.detail.steps if each.turn == step.seq and each.tool]
        if calls:
            return shown(_("It wants: %(calls)s.") % {"calls": pgettext("between parts", "; ").join(calls)})
        return _maybe(self.detail.text(step.seq, "result"))

    def _wanted(self, step: Step) -> str:
        """The call as the model asked for it; what a person made of it stands at its step, and is only said here."""
        asking = self.detail.asking.get(step.seq)
        if asking is None or not asking.changed_by:
            return self.sentence(step)
        edited = {"call": asking.proposed or self.sentence(step), "who": asking.changed_by}
        return _("%(call)s (%(who)s changed it afterwards)") % edited

    def reason_text(self, step: Step, status: str, attempts: Sequence[Attempt]) -> Shown | None:
        """Why it was not run, failed, or is not known to have happened."""
        if status == "unknown":
            return shown(_("The call had left, and no answer came back."))
        if status == "failed":
            last = next((each.message for each in reversed(attempts) if each.message), "")
            return beginning(last, BEGINNING) if last else _maybe(self.detail.text(step.seq, "result"))
        return _maybe(self.detail.text(step.seq, "result")) if status == "declined" else None

    def result_url(self, step: Step, result: Wide | None) -> str:
        """Where the whole result can be read, if only its beginning is shown."""
        longer = result is not None and (result.payload or result.length > BEGINNING)
        return f"{self.url}steps/{step.seq}/result/" if longer else ""

    def request(self, asking: Asking) -> StepRequest:
        """The request of a step."""
        return StepRequest(
            url=f"{self.base}requests/{asking.id}/",
            given=len(asking.approvers),
            needed=asking.needed,
            asked_at=asking.opened_at,
            state="open" if asking.status == "pending" else asking.status,
            expires_at=asking.deadline if asking.status == "pending" else None,
            edited_by=asking.edited_by,
            approved_by=list(asking.approvers),
            text=asking_text(asking, [self.names[each] for each in asking.asked if each in self.names]),
        )

    def told(self, step: Step, status: str) -> dict[str, Any]:
        """The latest progress of a step that is under way."""
        row = self.progress.get(step.seq)
        if row is None or status not in ("started", "retrying"):
            return {}
        done, total = row.data.get("done"), row.data.get("total")
        return {"progress": beginning(row.message, BEGINNING), "progress_done": done, "progress_total": total}


def shown_status(step: Step, asking: Asking | None, attempts: Sequence[Attempt]) -> str:
    """The step's state for people: waiting and approved come from the request, retrying from the pause."""
    if step.status == "planned" and asking is not None:
        return GATED.get(asking.status, step.status)
    if step.status == "started" and attempts and attempts[-1].closed_at is not None:
        return "retrying"
    return step.status


def worked(attempts: Sequence[Attempt]) -> float | None:
    """Seconds of work in attempts that ended; None before the first one did. One whose worker vanished is none."""
    spans = [
        (each.closed_at - each.opened_at).total_seconds()
        for each in attempts
        if each.closed_at and each.cause != CRASHED
    ]
    return sum(spans) if spans else None


def vanished(attempts: Iterable[Attempt]) -> Iterator[tuple[datetime, datetime]]:
    """From when to when a worker that had vanished held an attempt; nobody knows how much of it was work."""
    for each in attempts:
        if each.closed_at and each.cause == CRASHED:
            yield each.opened_at, each.closed_at


def worth_telling(attempts: Sequence[Attempt]) -> bool:
    """Whether the attempts say more than the step does: several, other than calls, or with a cause."""
    return len(attempts) > 1 or any(each.cause or each.kind != "call" for each in attempts)


def attempt_view(attempt: Attempt) -> AttemptView:
    """One try."""
    return AttemptView(
        number=attempt.number,
        kind=attempt.kind,
        opened_at=attempt.opened_at,
        closed_at=attempt.closed_at,
        cause=attempt.cause,
        not_done=attempt.not_done is True,
        message=beginning(attempt.message, BEGINNING) if attempt.message else None,
        next_at=attempt.next_at,
    )


def param(name: str, value: Any, *, masked: bool = False) -> Param:
    """One bound argument as text; a text is written plainly, any other value as JSON."""
    if masked:
        return Param(name=shown(name), value=shown(MASK), masked=True)
    text = _word(value)
    return Param(name=shown(name), value=shown(text), length=len(text), hidden_names=shown(text).hidden_names)


def asking_text(asking: Asking, asked: Sequence[str]) -> str:
    """What became of the question so far, as a sentence."""
    names = {"who": few(asking.approvers), "editor": asking.edited_by, "asked": few(asked)}
    if asking.status == "pending":
        return " ".join(_pending(asking, names))
    if asking.status == "approved" and asking.edited_by:
        return _("Edited by %(editor)s, then approved by %(who)s.") % names
    if asking.status == "approved" and asking.approvers:
        return _("Approved by %(who)s.") % names
    return _("Approved because nobody objected in time.") if asking.status == "approved" else ""


def _pending(asking: Asking, names: Mapping[str, str]) -> Iterator[str]:
    yield _("Asked: %(asked)s.") % names if names["asked"] else _("Nobody is asked at present.")
    if asking.edited_by:
        yield _("%(editor)s edited it.") % names
    if asking.approvers:
        yield _("Approved so far by %(who)s.") % names


def few(names: Sequence[str]) -> str:
    """At most four names, and how many more there are."""
    if len(names) <= 4:
        return wording.listed(names)
    return _("%(names)s and %(more)s others") % {"names": wording.listed(names[:3]), "more": len(names) - 3}


def either(names: Sequence[str]) -> str:
    """Any one of them: "A, B or C"; at most four names, and how many more there are."""
    if len(names) <= 1:
        return wording.listed(names)
    if len(names) <= 4:
        return _("%(names)s or %(last)s") % {"names": wording.listed(names[:-1]), "last": names[-1]}
    return _("%(names)s or %(more)s others") % {"names": wording.listed(names[:3]), "more": len(names) - 3}


def _maybe(wide: Wide | None) -> Shown | None:
    return beginning(wide.body, BEGINNING) if wide and wide.body else None


def _beginning(wide: Wide | None, *, plain: bool) -> Shown | None:
    """The start of a result; one that is JSON is told without its punctuation."""
    if wide is None or not wide.body:
        return None
    return beginning(_told(wide.body) if plain and wide.whole else wide.body, BEGINNING)


def _told(text: str) -> str:
    try:
        value = exact_json.loads(text)
    except exact_json.BadJson:
        return text
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_word(each)}" for name, each in value.items())
    return ", ".join(map(_word, value)) if isinstance(value, list) else _word(value)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else exact_json.dumps(value)
