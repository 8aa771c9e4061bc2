"""What stands beside the act: what was seen, why, what was answered before, and why it came back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from approvals import outcomes
from approvals.api.shapes import difference
from approvals.display import Shown, beginning, shown
from approvals.facts import Facts
from approvals.models import ApprovalRequest, RequestVersion
from approvals.pages import values
from approvals.pages.moved import why
from approvals.pages.parts import CameBack, Cell, Column, Fact, Link, Precedent, Precedents, Seen
from approvals.pages.reader import Reader

ROUNDS = 3
COLUMNS = 4


@dataclass(frozen=True)
class Background:
    """What a reviewer reads beside the act."""

    touches: Sequence[Fact]
    evidence_error: str
    undo: str
    seen: Sequence[Seen]
    reread: str
    rationale: Shown | None
    precedents: Precedents
    came_back: CameBack | None


def background(facts: Facts, reader: Reader) -> Background:
    """What a reviewer reads beside the act."""
    row = facts.request
    return Background(
        touches=values.facts(row.evidence, but=values.values_of(facts.version.arguments)),
        evidence_error=_evidence_error(row),
        undo=str(row.definition.get("undo") or ""),
        seen=_seen(row, reader.run_url(row)),
        reread=_reread(row),
        rationale=shown(row.rationale) if row.rationale else None,
        precedents=_precedents(facts, reader),
        came_back=_came_back(facts, reader),
    )


def _evidence_error(row: ApprovalRequest) -> str:
    if not row.evidence_error:
        return ""
    return _("What it touches could not be read: %(why)s") % {"why": str(shown(row.evidence_error))}


def _reread(row: ApprovalRequest) -> str:
    if row.precondition is None:
        return ""
    return ", ".join(f"{fact.name}: {fact.full}" for fact in values.facts(row.precondition))


def _seen(row: ApprovalRequest, run_url: str) -> list[Seen]:
    """What the engine froze with the call: `run.seen` is [{tool, text, at, step, cut}]."""
    return [_seen_one(each, run_url) for each in row.run.get("seen", ())]


def _seen_one(each: dict[str, Any], run_url: str) -> Seen:
    text, whole, length = values.begun(values.told(str(each.get("text", ""))))
    return Seen(
        tool=shown(str(each.get("tool") or _("Observed again"))),
        text=text,
        whole=whole,
        length=length,
        at=parse_datetime(str(each.get("at", ""))),
        step=each.get("step"),
        step_url=f"{run_url}#step-{each.get('step')}" if run_url else "",
        links=_whole(each, run_url),
    )


def _whole(each: dict[str, Any], run_url: str) -> list[Link]:
    """Where the whole of a result is read of which the request keeps the beginning."""
    if not each.get("cut") or not run_url:
        return []
    return [Link(_("The whole result"), f"{run_url}steps/{each.get('step')}/result/")]


def _came_back(facts: Facts, reader: Reader) -> CameBack | None:
    old = facts.request.supersedes
    if old is None:
        return None
    moved = difference(facts.request) or {}
    before = RequestVersion.objects.get(request=old, number=old.version)
    return CameBack(
        why=why(str(moved.get("because", ""))),
        old_url=reader.request_url(old.pk),
        round=facts.request.round,
        rounds=ROUNDS,
        same_parameters=before.digest == facts.versions[0].digest,
        approved_at=old.decided_at if old.decision in ("approve", "edit") else None,
        differences=values.differences(moved.get("fields", ())),
    )


def _precedents(facts: Facts, reader: Reader) -> Precedents:
    row = facts.request
    rows = sorted(row.precedents.get("rows", ()), key=lambda each: str(each["at"] or ""), reverse=True)
    columns = _compared(facts)
    told = outcomes.of([(each["subject"], each["ref"]) for each in rows])
    if not rows:
        return Precedents(total=0, hint=_("None before: no call of this tool had been answered when this was asked."))
    return Precedents(
        total=row.precedents.get("total", len(rows)),
        hint=_("The last ones on this tool, the last answered first."),
        columns=[Column(name, numeric=name in row.precedents.get("numbers", {})) for name in columns],
        rows=[_precedent(each, columns, told, row, reader) for each in rows],
    )


def _compared(facts: Facts) -> list[str]:
    """The parameters whose values stand in the table: in the agent's order, those that may be shown, at most four."""
    definition = facts.request.definition
    hidden = set(definition.get("sensitive") or ())
    known = [*values.values_of(facts.versions[0].arguments), *definition.get("parameters", {}).get("properties", {})]
    return [name for name in dict.fromkeys(known) if name not in hidden][:COLUMNS]


def _precedent(
    each: dict[str, Any],
    columns: Sequence[str],
    told: dict[tuple[str, str], outcomes.Outcome],
    row: ApprovalRequest,
    reader: Reader,
) -> Precedent:
    numbers = row.precedents.get("numbers", {})
    return Precedent(
        at=parse_datetime(each["at"]) or row.opened_at,
        url=reader.request_url(each["id"]),
        cells=[Cell(beginning(each["values"].get(name, "–"), 60).pieces, name in numbers, name) for name in columns],
        answer=_answer_words(each),
        outcome=outcome_words(each["status"], told.get((each["subject"], each["ref"]))),
    )


def _answer_words(each: dict[str, Any]) -> str:
    words = {
        "approved": _("Approved by %(who)s"),
        "rejected": _("Rejected by %(who)s"),
        "responded": _("Answered by %(who)s"),
    }
    edited = each["status"] == "approved" and each.get("decision") == "edit"  # Those frozen before do not say.
    said = (_("Edited, then approved by %(who)s") if edited else words[each["status"]]) % {"who": each["by"]}
    return f"{said}: “{shown(each['comment'])}”" if each["comment"] else said


def outcome_words(status: str, told: outcomes.Outcome | None) -> str:
    """What happened to a call that was answered, in a word or two."""
    if status != "approved":
        return _("Not run")
    if told and told.by and told.state in ("completed", "not_done"):
        said = (
            _("Completed, as %(who)s stated") if told.state == "completed" else _("Did not happen, as %(who)s stated")
        )
        return said % {"who": told.by}
    words = {
        "completed": _("Completed"),
        "failed": _("Failed"),
        "unknown": _("Outcome unknown"),
        "refused": _("Not run: the rules refused it"),
        "not_done": _("Did not happen"),
        "cancelled": _("Not run: the run had ended"),
        "running": _("Runs now"),
        "waiting": _("Not run yet"),
    }
    return words.get(told.state if told else "waiting", "")
