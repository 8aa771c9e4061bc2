"""What became of a request: who ended it, what happened then, who saw it, what people said."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from approvals import outcomes
from approvals.display import shown
from approvals.facts import Facts
from approvals.models import ApprovalRequest, RequestComment, Review, Viewing
from approvals.pages import notices, people
from approvals.pages.asking_parts import VoteLine
from approvals.pages.notices import Notices
from approvals.pages.parts import CommentLine, OutcomeLine, StandingLine
from approvals.pages.reader import Reader
from approvals.rosters import Roster


@dataclass(frozen=True)
class Aftermath:
    """How it ended and what people did around it."""

    standing: StandingLine | None
    outcome: OutcomeLine | None
    asked_names: Sequence[str]
    opened_by: Sequence[str]
    notices: Notices
    may_comment: bool
    comments: Sequence[CommentLine]
    superseded_by: str
    viewers: Sequence[VoteLine]


def aftermath(facts: Facts, names: Roster, reader: Reader) -> Aftermath:
    """How it ended and what people did around it."""
    row = facts.request
    return Aftermath(
        standing=_standing(facts, names, reader),
        outcome=_outcome(row),
        asked_names=_sorted({row.member_id for row in facts.asked}, names),
        opened_by=_opened_by(row, names),
        notices=notices.of(row),
        may_comment=True,
        comments=_comments(row),
        superseded_by=reader.request_url(facts.superseded_by) if facts.superseded_by else "",
        viewers=_viewers(row, names, reader),
    )


def _standing(facts: Facts, names: Roster, reader: Reader) -> StandingLine | None:
    row = facts.request
    if row.decided_at is None:
        return None
    last = _deciding(facts)
    deciders = [each.member_id for each in last]
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
        each=[people.vote_line(each, names, reader=reader.id) for each in last] if len(deciders) > 1 else (),
    )


def _deciding(facts: Facts) -> list[Review]:
    """The answers that ended it, one a person: the approvals of the last version, or the one no or answer."""
    ends = {"approved": ("approve", "edit"), "rejected": ("reject",), "responded": ("respond",)}
    verbs = ends.get(facts.request.status, ())
    last = [each for each in facts.reviews if each.version == facts.request.version and each.decision in verbs]
    return list({each.member_id: each for each in last}.values())


def _outcome(row: ApprovalRequest) -> OutcomeLine | None:
    if row.status != "approved":
        return None
    found = outcomes.of([(row.subject, row.ref)]).get((row.subject, row.ref), outcomes.WAITING)
    kept = outcomes.kept(row.subject) if found.state == "waiting" else None
    return OutcomeLine(found.state, text=str(shown(found.text)), at=found.at, settled_by=found.by, kept=kept)


def _opened_by(row: ApprovalRequest, names: Roster) -> list[str]:
    if row.status == "pending":
        return []
    return _sorted(set(Viewing.objects.filter(request=row).values_list("member_id", flat=True)), names)


def _sorted(members: Collection[UUID], names: Roster) -> list[str]:
    """Their names, as the ladder of those who are asked has them in order."""
    return [names.name(each) for each in sorted(members, key=lambda each: (names.name(each), each))]


def _comments(row: ApprovalRequest) -> list[CommentLine]:
    said = RequestComment.objects.filter(request=row).order_by("at", "id")
    return [CommentLine.of(each.actor, each.at, each.text) for each in said]


def _viewers(row: ApprovalRequest, names: Roster, reader: Reader) -> list[VoteLine]:
    """Who has the open request before them, beside the reader: they said so within the last two minutes."""
    if row.status != "pending":
        return []
    looking = Viewing.objects.filter(request=row).exclude(member=reader.id).order_by("since")
    recent = [each for each in looking if (reader.now - each.last).total_seconds() < 120]
    return [VoteLine(names.name(each.member_id), each.since) for each in recent]
