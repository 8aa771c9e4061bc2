"""What the agent had seen when it asked: the last results before the turn that made the call, for the reviewer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from runs import states
from runs.entries import Journal, StepRow
from runs.models import Attempt

MOST = 5
LONGEST = 1000
RESULTS = (states.TOOL_CALL, states.OBSERVATION)


def results(journal: Journal, step: StepRow) -> list[StepRow]:
    """The last results the model read before it asked for this step's call, at most five, oldest first."""
    found = [each for each in journal.steps if each.seq < step.turn and each.kind in RESULTS and each.result]
    return [each for each in found if each.status == "completed"][-MOST:]


def told(journal: Journal, step: StepRow) -> Sequence[dict[str, Any]]:
    """What a request freezes of them: `[{tool, text, at, step, cut}]`; of a long text its beginning, and "cut" is true.

    `tool` is empty where the run observed again. Needs the run's scope.
    """
    found = results(journal, step)
    ends = _ends(journal, found) if found else {}
    return [
        {
            "tool": each.tool,
            "text": _beginning(each.result or ""),
            "at": ends[each.seq].isoformat() if each.seq in ends else "",
            "step": each.seq,
            **({"cut": True} if len(each.result or "") > LONGEST else {}),
        }
        for each in found
    ]


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _ends(journal: Journal, found: Sequence[StepRow]) -> dict[int, datetime]:
    seqs = [each.seq for each in found]
    calls = Attempt.objects.filter(run_id=journal.run.id, seq__in=seqs, kind="call").order_by("number")
    return {each.seq: each.closed_at for each in calls if each.closed_at}
