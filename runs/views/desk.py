"""The outcome desk: calls that may or may not have happened, what is known of one, and who may settle it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.display import shown
from approvals.pages import values
from runs import access, askings, bells, outcomes, telling
from runs.askings import Asking
from runs.models import Attempt, Run, Step
from runs.states import FINISHED
from runs.views import desk_rows, story
from runs.views.desk_shapes import DeskView, Known, Look, Outcome
from runs.views.steps import Timeline
from tenants import ids, wording
from tenants.models import AuditEntry, Event, Member

SHOWN = 50
SETTLED_DAYS = timedelta(days=30)
ENDS: Mapping[str, str | Promise] = {
    "crashed": gettext_lazy("Its worker had vanished, and no answer came."),
    "timeout": gettext_lazy("No answer came in time."),
    "connection": gettext_lazy("The connection broke before an answer came."),
    "server": gettext_lazy("The service failed without saying what it had done."),
}
STATED: Mapping[str, str | Promise] = {
    "completed": gettext_lazy("%(who)s stated that it happened."),
    "not_done": gettext_lazy("%(who)s stated that it did not happen."),
    "do_again": gettext_lazy("%(who)s stated that it had not happened, and had it done again."),
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """One step of one run, as the desk's addresses name it: `<run id>-<seq>`."""

    run: UUID
    seq: int

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """The place that a text names, or None."""
        run, _dash, seq = text.rpartition("-")
        found = ids.parse(run)
        return cls(run=found, seq=int(seq)) if found and seq.isdecimal() and len(seq) < 16 else None


def desk(member: Member, *, base: str, chosen: Place | None) -> DeskView:
    """What the desk shows to this member: the chosen outcome in full, else the oldest."""
    seq = bells.number()
    rows = unknown(member)
    open_steps = list(rows.order_by("unknown_since", "run_id", "seq")[:SHOWN])
    numbers = rows.aggregate(n=Count("seq"), oldest=Min("unknown_since"))
    settled = _lately_settled(member)
    current = _current(member, chosen, open_steps)
    return DeskView(
        open=numbers["n"],
        oldest=numbers["oldest"],
        settled=settled.count(),
        settled_url="",
        current=outcome(*current, member=member, base=base) if current else None,
        others=desk_rows.others(open_steps, current, settled, base=base),
        seq=seq,
    )


def unknown(member: Member) -> "QuerySet[Step]":
    """The unknown outcomes that this member may see."""
    seen = access.visible(member).filter(unsettled=True).values("id")
    return Step.objects.filter(unknown_since__isnull=False, status="unknown", run_id__in=seen)


def _lately_settled(member: Member) -> "QuerySet[Event]":
    """The events by which people settled them; few runs have one, and the audit knows which."""
    since = timezone.now() - SETTLED_DAYS
    acts = AuditEntry.objects.filter(action="run.settled", refused=False, at__gte=since)
    runs = {askings.run_of(str(target)) for target in acts.values_list("target", flat=True)}
    seen = access.visible(member).filter(id__in=runs)
    return Event.objects.filter(name="step.settled", at__gte=since, subject__in=seen.values_list(access.STORY))


def outcome(run: Run, step: Step, *, member: Member, base: str) -> Outcome:
    """One outcome in full."""
    detail = telling.detail(run, [step])
    url = f"{base}runs/{run.id}/"
    timeline = Timeline(detail, base=base, url=url)
    attempts = [each for each in detail.attempts.get(step.seq, ()) if each.kind in ("call", "lookup")]
    asking = detail.asking.get(step.seq)
    start = outcomes.quiet_at(step)
    cannot = _cannot(run, step, member, start)
    can, barred = _people(run)
    return Outcome(
        title=shown(timeline.sentence(step)),
        tool=step.tool,
        effect=step.effect,
        run_title=story.title(run),
        run_url=url,
        step=step.seq,
        known=_known(step, attempts, telling.statements(run.id, step.seq)),
        params=timeline.params(step),
        approved_by=list(asking.approvers) if asking and asking.status == "approved" else [],
        risk=timeline.risk(step),
        look=_look(detail.tools.get(step.tool, {}), attempts, asking),
        may_settle=not cannot,
        cannot=cannot,
        settle_from=start,
        can=can,
        barred=barred,
        may_do_again=run.status not in FINISHED,
        do_again_why=_("The run has ended, so this cannot be done again from here.") if run.status in FINISHED else "",
        url=f"{base}outcomes/{run.id}-{step.seq}/",
    )


def _current(member: Member, chosen: Place | None, open_steps: list[Step]) -> tuple[Run, Step] | None:
    place = chosen or next((Place(run=each.run_id, seq=each.seq) for each in open_steps), None)
    run = access.visible(member).filter(id=place.run).first() if place else None
    if place is None or run is None:
        return None
    step = telling.steps_of(run.id, limit=story.CUT).filter(seq=place.seq, kind="tool_call").first()
    return (run, step) if step else None


def _cannot(run: Run, step: Step, member: Member, start: datetime | None) -> str:
    if step.status != "unknown":
        return "finished"
    if member.id in run.initiators:
        return "initiator"
    if not access.may_operate(member, run):
        return "role"
    return "later" if start else ""


def _people(run: Run) -> tuple[list[str], list[str]]:
    """The managers who may settle it, and the initiators who may not."""
    can = [each.name for each in access.settlers(run).select_related("person")]
    return can, list(telling.names(run.initiators).values())


def _known(step: Step, attempts: list[Attempt], stated: Iterable[Event]) -> list[Known]:
    """What was tried and what people stated between the tries, in the order of time, and how it stands."""
    lines = [*_tried(attempts), *map(_statement, stated)]
    about = {
        "manual": _("the service has no way to be asked"),
        "lookup": _("the service was asked and could not say"),
    }
    last = [Known(label=_("after that"), text=_("No answer, no result."), about=about.get(step.effect, ""))]
    return sorted(lines, key=lambda each: each.at or timezone.now()) + (last if step.status == "unknown" else [])


def _statement(event: Event) -> Known:
    outcome = STATED.get(str(event.data.get("outcome")), STATED["not_done"])
    said = str(outcome) % {"who": wording.actor(event.actor)}
    return Known(at=event.at, text=said, about=str(shown(event.message)))


def _tried(attempts: list[Attempt]) -> Iterable[Known]:
    for attempt in attempts:
        number = {"n": attempt.number}
        fence = _("fence %(n)s") % {"n": attempt.fence}
        if attempt.kind == "lookup":
            yield Known(at=attempt.opened_at, text=_("Attempt %(n)s asked what had happened.") % number, about=fence)
        else:
            yield Known(at=attempt.opened_at, text=_("Attempt %(n)s opened, the call was sent.") % number, about=fence)
        if attempt.closed_at:
            yield Known(at=attempt.closed_at, text=_end(attempt), about=str(shown(attempt.message[:300])))


def _look(tool: Mapping[str, Any], attempts: list[Attempt], asking: Asking | None) -> Look:
    """When it may have happened, by which key it may be found, what it touches, what the far side said of it."""
    tries = [each for each in attempts if each.kind == "call" and not each.not_done]
    lookups = [each for each in attempts if each.kind == "lookup" and each.closed_at]
    return Look(
        start=min((each.opened_at for each in tries), default=None),
        end=max((_over(each, tool) for each in tries), default=None),
        key=str(shown(next((each.key for each in reversed(attempts) if each.key), ""))),
        known_by_key=tool.get("effect") != "manual",
        asked=[Known(at=each.closed_at, text=str(shown(each.message[:300])) or _("No answer.")) for each in lookups],
        touches=values.facts(asking.evidence, but=tool.get("sensitive") or ()) if asking else [],
        undo=str(tool.get("undo") or ""),
        about=str(tool.get("description") or ""),
    )


def _over(attempt: Attempt, tool: Mapping[str, Any]) -> datetime:
    """When this try had surely ended: a call that was given up may have gone on behind it."""
    until = attempt.opened_at + timedelta(seconds=outcomes.longest(tool.get("timeout")))
    if attempt.closed_at and attempt.cause not in outcomes.LINGERING:
        return attempt.closed_at
    return max(until, attempt.closed_at) if attempt.closed_at else until


def _end(attempt: Attempt) -> str:
    return str(ENDS.get(attempt.cause, _("It ended without saying what it had done.")))
