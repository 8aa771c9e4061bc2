"""The outcome desk: what may be said of a call whose outcome is unknown, and when."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from django.conf import settings
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from runs import states, validation
from runs.models import Attempt, Run, Step, ToolDefinition
from tenants import exact_json
from tenants.refusals import Refusal, invalid

OUTCOMES = ("completed", "not_done", "do_again")
LINGERING = ("crashed", "timeout")
"""Causes after which the call may still be running somewhere."""
_LIKE_JSON = ("{", "[", '"')
_SAYS = {"completed": "A person says it was done: ", "not_done": "A person says it was not done: "}


def text(outcome: str, *, result: str, note: str) -> str | None:
    """What the model reads in the result's place; None where the call is done again. Refusal 422."""
    if outcome not in OUTCOMES:
        _refuse("outcome", _("This is none of completed, not_done, do_again."))
    said = validation.remark("note", note)
    if result and outcome != "completed":
        _refuse("result", _("A result goes with completed alone."))
    if result:
        return _json(result)
    return f"{_SAYS[outcome]}{said}" if outcome in _SAYS else None


def as_json(text: str) -> str:
    """What a person typed as JSON text: JSON as it is, plain text as a string, blank as none. Refusal 422.

    What begins like JSON and is broken is taken for neither: the agent would read half an object as a sentence.
    """
    said = text.strip()
    if not said:
        return ""
    try:
        exact_json.loads(said)
    except exact_json.BadJson as bad:
        if said.startswith(_LIKE_JSON):
            hint = _("Correct it, or write plain text that does not begin with a bracket or a double quote.")
            _refuse("result", f"{bad} {hint}")
        return exact_json.dumps(said)
    return said


def worded(result: str) -> bool:
    """Whether the model reads what `text` made of a person's note; no tool's result begins so, for it is JSON."""
    return result.startswith(tuple(_SAYS.values()))


def demand_settleable(run: Run, step: Step, outcome: str) -> None:
    """Refusal 409 where the outcome is known, the call may still be running, or nothing can be done again."""
    if step.status != "unknown":
        standing = {"status": step.status, "by": None, "at": None}
        raise Refusal("not_unknown", detail=_("The outcome of this step is not unknown."), standing=standing)
    if outcome == "do_again" and run.status in states.FINISHED:
        raise Refusal("run_finished", detail=_("The run is over; a finished run starts nothing."))
    until = quiet_at(step)
    if until is not None:
        detail = _("The call may still be running. It can be settled from %(time)s on.")
        raise Refusal("too_early", detail=detail % {"time": until.isoformat(timespec="seconds")})


def quiet_at(step: Step) -> Any:
    """When the last attempt is certainly over: its start, the tool's timeout and a margin; None if it is over."""
    attempts = Attempt.objects.filter(run_id=step.run_id, seq=step.seq).annotate(now=Now())
    last = attempts.order_by("-number").first()
    if last is None or last.cause not in LINGERING:
        return None
    until = last.opened_at + timedelta(seconds=_timeout(step.tool))
    return until if until > last.now else None


def longest(timeout: Any) -> float:
    """Seconds after its start when a call of a tool with this time-out is certainly over."""
    return float(settings.TOOL_TIMEOUT if timeout is None else timeout) + float(settings.LEASE_MARGIN)


def budget(given: Mapping[str, Any]) -> dict[str, Any]:
    """The budget as it is kept: whole tokens, seconds, cost as exact text. Refusal 422."""
    unknown = set(given) - {"tokens", "cost", "seconds"}
    if unknown or not given:
        _refuse("budget", _("A budget names tokens, cost or seconds."))
    try:
        numbers = {name: Decimal(str(value)) for name, value in given.items()}
    except InvalidOperation:
        _refuse("budget", _("A budget is made of numbers."))
    if not all(number.is_finite() and number > 0 for number in numbers.values()):
        _refuse("budget", _("A budget is more than nothing."))
    return {name: str(number) if name == "cost" else _plain(number) for name, number in numbers.items()}


def _plain(number: Decimal) -> int | Decimal:
    return int(number) if number == number.to_integral_value() else number


def _timeout(tool: str) -> float:
    found = ToolDefinition.objects.filter(name=tool).order_by("-announced_at").first()
    return longest(found.definition.get("timeout") if found else None)


def _json(result: str) -> str:
    try:
        exact_json.loads(result)
    except exact_json.BadJson as bad:
        _refuse("result", str(bad))
    return result


def _refuse(field: str, message: Any) -> NoReturn:
    raise invalid(message, errors=[{"field": field, "message": message}])
