"""The list beside the outcome desk: what is next to settle and what was settled last, each told from those like it."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from approvals.calls import concealed, sentence
from approvals.checks import text_of
from approvals.display import beginning, shown
from approvals.pages.parts import Fact
from runs import askings
from runs.models import Run, Step, ToolDefinition
from runs.views import story
from runs.views.desk_shapes import OutcomeRow
from tenants import exact_json, wording
from tenants.models import Event

SETTLED_SHOWN = 20
APART = 3
"""How many parameters tell a call from those of the same title."""
LONG = 80
Key = tuple[UUID, int]


def others(
    open_steps: list[Step], current: tuple[Run, Step] | None, settled: "QuerySet[Event]", *, base: str
) -> list[OutcomeRow]:
    """The rows beside the one that is open in full: those to settle in their order, then the last settled."""
    here = (current[1].run_id, current[1].seq) if current else None
    waiting = [each for each in open_steps if (each.run_id, each.seq) != here]
    events = list(settled.order_by("-at", "-subject", "-seq")[:SETTLED_SHOWN])
    names = _Names([*waiting, *_settled_steps(events), *([current[1]] if current else [])])
    rows = [
        OutcomeRow(
            **names.of((each.run_id, each.seq)),
            url=f"{base}outcomes/?step={each.run_id}-{each.seq}",
            since=each.unknown_since or timezone.now(),
            state="open",
        )
        for each in waiting
    ]
    return rows + [_settled_row(event, names, base=base) for event in events if _key(event) in names.titles]


def _settled_row(event: Event, names: "_Names", *, base: str) -> OutcomeRow:
    run, seq = _key(event)
    return OutcomeRow(
        **names.of((run, seq)),
        url=f"{base}runs/{run}/#step-{seq}",
        since=event.at,
        state=str(event.data.get("outcome", "")),
        settled_by=wording.actor(event.actor),
        note=shown(event.message) if event.message else None,
    )


class _Names:
    """What each of these steps is called, in which run it stands, and what it sends that its namesakes do not."""

    def __init__(self, steps: Iterable[Step]) -> None:
        found = {(each.run_id, each.seq): each for each in steps}
        rows = ToolDefinition.objects.filter(name__in={each.tool for each in found.values()}).order_by("announced_at")
        tools = {row.name: row.definition for row in rows}
        self._runs = Run.objects.in_bulk({run for run, _seq in found})
        self._sent = {key: _sent(each, tools.get(each.tool)) for key, each in found.items()}
        self.titles = {key: _title(each, self._sent[key], tools.get(each.tool)) for key, each in found.items()}

    def of(self, key: Key) -> dict[str, Any]:
        """The fields of its row that name it."""
        run = self._runs[key[0]]
        return {
            "title": shown(self.titles[key]),
            "run_title": story.title(run),
            "step": key[1],
            "apart": self._apart(key),
        }

    def _apart(self, key: Key) -> list[Fact]:
        """The parameters whose values are not the same in all calls of this title; a sensitive one tells nothing."""
        alike = [self._sent[each] for each, title in self.titles.items() if title == self.titles[key]]
        mine = self._sent[key] or {}
        differ = [name for name in mine if any((each or {}).get(name) != mine[name] for each in alike)]
        return [_fact(name, mine[name]) for name in differ[:APART]]


def _fact(name: str, value: Any) -> Fact:
    return Fact(name=str(shown(name)), value=beginning(text_of(value), LONG))


def _key(event: Event) -> Key:
    return askings.run_of(event.subject), int(event.data.get("step", 0))


def _settled_steps(events: Iterable[Event]) -> list[Step]:
    keys = {_key(event) for event in events}
    rows = Step.objects.filter(run_id__in={run for run, _seq in keys}, seq__in={seq for _run, seq in keys})
    return [row for row in rows if (row.run_id, row.seq) in keys]


def _sent(step: Step, tool: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the call was sent with, sensitive values masked; None where that cannot be read."""
    try:
        values = exact_json.loads(step.arguments or "")
    except exact_json.BadJson:
        return None
    if tool is None or not isinstance(values, dict):
        return None
    sensitive = tool.get("sensitive")
    return dict(concealed(values, sensitive=sensitive if isinstance(sensitive, list) else ()))


def _title(step: Step, sent: Mapping[str, Any] | None, tool: Mapping[str, Any] | None) -> str:
    """The act as a sentence, by the newest definition of its tool."""
    return sentence(str(tool["summary"]), sent) if tool and sent is not None else step.tool
