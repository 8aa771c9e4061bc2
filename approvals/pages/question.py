"""The question as its page shows it: the act from bound parameters, what is unusual, what was seen, who answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals import outcomes, reviewers
from approvals.api.shapes import difference, run_of, step_of
from approvals.display import Shown, beginning, shown
from approvals.facts import Facts
from approvals.models import ApprovalRequest, RequestComment, RequestVersion, Viewing
from approvals.pages import notices, people, values
from approvals.pages.notices import Notices
from approvals.pages.parts import (
    CameBack,
    Cell,
    Changed,
    Column,
    CommentLine,
    Confirm,
    EditView,
    Fact,
    Flag,
    Later,
    Lost,
    OutcomeLine,
    Param,
    Position,
    Precedent,
    Precedents,
    RuleLine,
    RungLine,
    Seen,
    StandingLine,
    VoteLine,
    Waiting,
)
from approvals.reviewers import Verdict
from approvals.rosters import Roster
from tenants import events
from tenants.models import Member

ROUNDS = 3
MAX_FLAGS = 3


@dataclass(frozen=True)
class Reader:
    """Who reads, at which address the tenant's pages begin, and when."""

    member: Member
    base: str
    now: datetime
    wants_factor: bool = False

    @property
    def id(self) -> UUID:
        return self.member.pk

    def request_url(self, key: Any) -> str:
        """The page of a request."""
        return f"{self.base}requests/{key}/"

    def run_url(self, row: ApprovalRequest) -> str:
        """The page of the run a request is about, or ""."""
        run = run_of(row)
        return f"{self.base}runs/{run}/" if run else ""


@dataclass(frozen=True)
class RequestView:
    """Everything the request page needs; names and meanings are agreed with its template."""

    id: str
    url: str
    title: Shown
    tool: Shown
    risk: str
    version: int
    versions: int
    agent: str
    started_by: str
    asked_at: datetime
    deadline: datetime
    run_title: Shown | None
    run_url: str
    step: int | str | None
    state: str
    flags: Sequence[Flag]
    params: Sequence[Param]
    touches: Sequence[Fact]
    evidence_error: str
    undo: str
    seen: Sequence[Seen]
    reread: str
    rationale: Shown | None
    precedents: Precedents
    rules: Sequence[RuleLine]
    ladder: Sequence[RungLine]
    answers: frozenset[str]
    reason_required: bool
    second_factor: bool
    approvals_given: int
    approvals_needed: int
    approvals_left: int
    votes: Sequence[VoteLine]
    my_vote: VoteLine | None
    lapsed: Sequence[VoteLine]
    waiting_for: Sequence[Waiting]
    cannot: str
    cannot_text: str
    can: Sequence[str]
    can_later: Sequence[Later]
    shortage: str
    standing: StandingLine | None
    came_back: CameBack | None
    outcome: OutcomeLine | None
    asked_names: Sequence[str]
    opened_by: Sequence[str]
    notices: Notices
    may_comment: bool
    comments: Sequence[CommentLine]
    superseded_by: str
    viewers: Sequence[VoteLine]
    topics: str
    seq: int | None
    position: Position | None = None
    lost: Lost | None = None
    changed: Changed | None = None
    confirm: Confirm | None = None
    edit: EditView | None = field(default=None)


def build(facts: Facts, names: Roster, reader: Reader, *, position: Position | None = None) -> RequestView:
    """The page of one request for one reader."""
    row = facts.request
    verdict = reviewers.judge(names, facts.ask, reader.id)
    mine = _mine(facts, names, reader)
    given, needed = facts.progress
    return RequestView(
        id=str(row.pk),
        url=reader.request_url(row.pk),
        title=shown(facts.version.title),
        tool=shown(row.tool),
        risk=row.risk,
        version=row.version,
        versions=len(facts.versions),
        agent=agent_of(row),
        started_by=_started_by(row),
        asked_at=row.opened_at,
        deadline=row.deadline,
        run_title=shown(str(row.run["title"])) if row.run.get("title") else None,
        run_url=reader.run_url(row),
        step=step_of(row),
        state="open" if row.status == "pending" else row.status,
        flags=flags(facts, names)[:MAX_FLAGS],
        params=values.params(facts.version.arguments, facts.versions[0].arguments, row.definition, row.evidence),
        touches=values.facts(row.evidence, but=values.values_of(facts.version.arguments)),
        evidence_error=_evidence_error(row),
        undo=str(row.definition.get("undo") or ""),
        seen=_seen(row, reader.run_url(row)),
        reread=_reread(row),
        rationale=shown(row.rationale) if row.rationale else None,
        precedents=_precedents(row, reader),
        rules=_rules(facts, names, reader),
        ladder=people.ladder(facts, names, reader=reader.id),
        answers=_answers(facts, verdict, mine),
        reason_required=facts.requirement.reason_required,
        second_factor=reader.wants_factor and row.risk == "critical",
        approvals_given=given,
        approvals_needed=needed,
        approvals_left=max(needed - given, 0),
        votes=people.votes(facts, names, reader=reader.id),
        my_vote=mine,
        lapsed=people.lapsed(facts, names, reader=reader.id),
        waiting_for=people.waiting_for(facts, names),
        cannot=_cannot(verdict),
        cannot_text=str(verdict.because) if verdict.code in ("reassigned", "stand_in") else "",
        can=[names.name(member) for member in people.able_now(facts, names) if member != reader.id],
        can_later=people.can_later(facts, names),
        shortage=people.shortage(facts),
        standing=_standing(facts, names, reader),
        came_back=_came_back(facts, reader),
        outcome=_outcome(row),
        asked_names=[names.name(each) for each in dict.fromkeys(row.member_id for row in facts.asked)],
        opened_by=_opened_by(row, names),
        notices=notices.of(row),
        may_comment=True,
        comments=_comments(row),
        superseded_by=reader.request_url(facts.superseded_by) if facts.superseded_by else "",
        viewers=_viewers(row, names, reader),
        topics=f"request:{row.pk}",
        seq=events.last_seq(row.subject),
        position=position,
    )


def agent_of(row: ApprovalRequest) -> str:
    """The agent with its version, as people name it."""
    return f"{row.agent} v{row.agent_version}" if row.agent_version else row.agent


def flags(facts: Facts, names: Roster) -> list[Flag]:
    """The unusual facts in words, the weightiest first."""
    found = [_edited(facts, names)] if facts.request.version > 1 else []
    return [*found, *[flag for each in facts.request.flags if (flag := _flag(each))]]


def _edited(facts: Facts, names: Roster) -> Flag:
    changed = ", ".join(facts.version.edited_fields)
    who = names.name(facts.version.edited_by_id)
    text = _("%(who)s made version %(n)s.") % {"who": who, "n": facts.request.version}
    return Flag(lead=_("A person edited: %(fields)s.") % {"fields": changed}, text=text)


def _flag(each: dict[str, Any]) -> Flag | None:
    if each["code"] == "hidden":
        lead = ngettext("holds a hidden character.", "holds %(n)s hidden characters.", each["count"]) % {
            "n": each["count"]
        }
        text = _("Marked below: %(names)s.") % {"names": ", ".join(each["names"])}
        return Flag(lead=lead, text=text, code=each["field"])
    if each["code"] == "lookalike":
        words = ", ".join(each["words"])
        return Flag(lead=_("mixes letters that look alike."), text=_("Look closely at: %(words)s.") % {"words": words},
                    code=each["field"])  # fmt: skip
    if each["code"] == "unusual":
        lead = _("is larger than %(n)s of the last %(of)s.") % {"n": each["larger_than"], "of": each["of"]}
        return Flag(lead=lead, text=_("Half of them were under %(m)s.") % {"m": each["median"]}, code=each["field"])
    if each["code"] == "dependents":
        lead = ngettext("Another call waits for this one.", "%(n)s other calls wait for this one.", each["count"]) % {
            "n": each["count"]
        }
        return Flag(lead=lead, text=_("The agent asked for them together, and they go one by one."))
    return None


def _started_by(row: ApprovalRequest) -> str:
    return str(row.run.get("started_by") or row.initiator.get("name") or "")


def _evidence_error(row: ApprovalRequest) -> str:
    if not row.evidence_error:
        return ""
    return _("What it touches could not be read: %(why)s") % {"why": str(shown(row.evidence_error))}


def _reread(row: ApprovalRequest) -> str:
    if row.precondition is None:
        return ""
    read = ", ".join(f"{fact.name}: {fact.value}" for fact in values.facts(row.precondition))
    return _("%(facts)s. If that has changed by then, it comes back here instead of running.") % {"facts": read}


def _seen(row: ApprovalRequest, run_url: str) -> list[Seen]:
    """What the engine froze with the call: `run.seen` is [{tool, text, at, step}]."""
    return [
        Seen(
            tool=shown(str(each.get("tool") or _("Observed again"))),
            text=beginning(values.told(str(each.get("text", "")))),
            at=parse_datetime(str(each.get("at", ""))),
            step=each.get("step"),
            step_url=f"{run_url}#step-{each.get('step')}" if run_url else "",
        )
        for each in row.run.get("seen", ())
    ]


def _rules(facts: Facts, names: Roster, reader: Reader) -> list[RuleLine]:
    may_open = reader.member.has("admin")
    return [
        RuleLine(
            name=each.name,
            url=f"{reader.base}settings/policies/{each.rule}/" if may_open and each.rule != "default" else "",
            condition=each.condition,
            needed=each.approvals,
            of=[people.place_name(place, names) for place in each.places],
            error=each.error,
        )
        for each in facts.requirement.trace
    ]


def _mine(facts: Facts, names: Roster, reader: Reader) -> VoteLine | None:
    """The reader's approval of the version that stands."""
    own = [each for each in facts.reviews if each.member_id == reader.id and each.version == facts.request.version]
    approvals = [each for each in own if each.decision in ("approve", "edit")]
    return people.vote_line(approvals[-1], names, reader=reader.id) if approvals else None


def _answers(facts: Facts, verdict: Verdict, mine: VoteLine | None) -> frozenset[str]:
    """The answers this reader may give now; whoever approved may still reject."""
    if not verdict.allowed:
        return frozenset()
    possible = frozenset(facts.answers)
    return possible & {"reject"} if mine else possible


def _cannot(verdict: Verdict) -> str:
    if verdict.allowed:
        return ""
    return "not_asked" if verdict.code == "reassigned" else verdict.code


def _standing(facts: Facts, names: Roster, reader: Reader) -> StandingLine | None:
    row = facts.request
    if row.decided_at is None:
        return None
    deciders = _deciders(facts)
    others = [names.name(member) for member in deciders if member != reader.id]
    if not deciders and (row.decided_by or {}).get("kind") in ("person", "key", "command"):
        others = [str((row.decided_by or {}).get("name", ""))]
    return StandingLine(
        by=others,
        you=reader.id in deciders,
        at=row.decided_at,
        comment=shown(row.comment) if row.comment else None,
        response=shown(row.response) if row.response else None,
        edited=row.decision == "edit",
    )


def _deciders(facts: Facts) -> list[UUID]:
    """Whose answers ended it: the approvals of the last version, or the one no or answer."""
    ends = {"approved": ("approve", "edit"), "rejected": ("reject",), "responded": ("respond",)}
    verbs = ends.get(facts.request.status, ())
    last = [each for each in facts.reviews if each.version == facts.request.version and each.decision in verbs]
    return list(dict.fromkeys(each.member_id for each in last))


def _came_back(facts: Facts, reader: Reader) -> CameBack | None:
    old = facts.request.supersedes
    if old is None:
        return None
    moved = difference(facts.request) or {}
    before = RequestVersion.objects.get(request=old, number=old.version)
    return CameBack(
        why=str(moved.get("because", "")),
        old_url=reader.request_url(old.pk),
        round=facts.request.round,
        rounds=ROUNDS,
        same_parameters=before.digest == facts.versions[0].digest,
        approved_at=old.decided_at if old.decision in ("approve", "edit") else None,
        differences=values.differences(moved.get("fields", ())),
    )


def _outcome(row: ApprovalRequest) -> OutcomeLine | None:
    if row.status != "approved":
        return None
    found = outcomes.of([(row.subject, row.ref)]).get((row.subject, row.ref), outcomes.WAITING)
    return OutcomeLine(found.state, text=str(shown(found.text)), at=found.at)


def _precedents(row: ApprovalRequest, reader: Reader) -> Precedents:
    rows = row.precedents.get("rows", ())
    columns = list(row.definition.get("parameters", {}).get("properties", {}))[:4]
    told = outcomes.of([(each["subject"], each["ref"]) for each in rows])
    if not rows:
        return Precedents(total=0, hint=_("None before: no call of this tool had been answered when this was asked."))
    return Precedents(
        total=row.precedents.get("total", len(rows)),
        hint=_("The last ones on this tool, newest first."),
        columns=[Column(name, numeric=name in row.precedents.get("numbers", {})) for name in columns],
        rows=[_precedent(each, columns, told, row, reader) for each in rows],
    )


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
        cells=[Cell(beginning(each["values"].get(name, "–"), 60).pieces, numeric=name in numbers) for name in columns],
        answer=_answer_words(each),
        outcome=outcome_words(each["status"], told.get((each["subject"], each["ref"]))),
    )


def _answer_words(each: dict[str, Any]) -> str:
    words = {
        "approved": _("Approved by %(who)s"),
        "rejected": _("Rejected by %(who)s"),
        "responded": _("Answered by %(who)s"),
    }
    said = words[each["status"]] % {"who": each["by"]}
    return f"{said}: “{shown(each['comment'])}”" if each["comment"] else said


def outcome_words(status: str, told: outcomes.Outcome | None) -> str:
    """What happened to a call that was answered, in a word or two."""
    if status != "approved":
        return _("Not run")
    words = {
        "completed": _("Completed"),
        "failed": _("Failed"),
        "unknown": _("Outcome unknown"),
        "refused": _("Not run: the rules refused it"),
        "not_done": _("Did not happen"),
        "cancelled": _("Not run: the run was stopped"),
        "running": _("Runs now"),
        "waiting": _("Not run yet"),
    }
    return words.get(told.state if told else "waiting", "")


def _opened_by(row: ApprovalRequest, names: Roster) -> list[str]:
    if row.status == "pending":
        return []
    seen = Viewing.objects.filter(request=row).order_by("since").values_list("member_id", flat=True)
    return [names.name(member) for member in seen]


def _comments(row: ApprovalRequest) -> list[CommentLine]:
    said = RequestComment.objects.filter(request=row).order_by("at", "id")
    return [CommentLine(str(each.actor.get("name", "")), each.at, shown(each.text)) for each in said]


def _viewers(row: ApprovalRequest, names: Roster, reader: Reader) -> list[VoteLine]:
    """Who has the open request before them, beside the reader: they said so within the last two minutes."""
    if row.status != "pending":
        return []
    looking = Viewing.objects.filter(request=row).exclude(member=reader.id).order_by("since")
    recent = [each for each in looking if (reader.now - each.last).total_seconds() < 120]
    return [VoteLine(names.name(each.member_id), each.since) for each in recent]
