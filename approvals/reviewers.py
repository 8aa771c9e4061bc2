"""Who may decide: the one guard for page, API, bulk, link and callback; the default is no.

Everything is read as it is now: roles, groups, absences, levels. `judge` is pure over what `rosters.roster` and
`asking` read.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from approvals import escalations, requirements
from approvals.models import ApprovalRequest, Reassignment, Review
from approvals.requirements import Requirement, Voter
from approvals.rosters import Roster, Someone, roster
from tenants.models import Member

Words = str | Promise
LevelsOf = Callable[[Iterable[UUID]], Mapping[UUID | None, escalations.Levels]]


@dataclass(frozen=True)
class Asking:
    """What the guard needs to know of one request; `answers` to the version that stands, oldest first, where it is
    asked whether enough people are left."""

    requirement: Requirement
    level: int
    escalation: escalations.Levels = escalations.NONE
    initiators: frozenset[UUID] = frozenset()
    agent: str = ""
    risk: str = "critical"
    moves: tuple[tuple[UUID, UUID], ...] = ()
    answers: tuple[Review, ...] = ()

    def moved(self) -> tuple[set[UUID], dict[UUID, UUID]]:
        """Who may no longer answer, and who may instead: reassignments in their order."""
        barred: set[UUID] = set()
        instead: dict[UUID, UUID] = {}
        for before, after in self.moves:
            origin = instead.pop(before, before)
            barred.add(before)
            barred.discard(after)
            instead[after] = origin
        return barred, instead


@dataclass(frozen=True)
class Verdict:
    """Whether a member may answer now. `because` is a sentence; `code` is empty or one of
    initiator, role, not_asked, not_yet, stand_in, reassigned."""

    allowed: bool
    code: str = ""
    because: Words = ""
    voter: Voter | None = None
    in_place_of: UUID | None = None
    level: int = 0
    asked_as: str = ""


@dataclass(frozen=True)
class Vote:
    """A review of the current version whose giver may still decide; who and in whose place."""

    review: Review
    voter: Voter


@dataclass(frozen=True)
class Given:
    """The answers to a request's version, oldest first, and what the rights of their givers hang on."""

    agent: str
    risk: str
    level: int
    initiators: frozenset[UUID]
    moves: tuple[tuple[UUID, UUID], ...]
    reviews: tuple[Review, ...]


@dataclass(frozen=True)
class _Right:
    """From which level on somebody may answer, and which places they fill."""

    level: int
    voter: Voter
    asked_as: str


def asking(request: ApprovalRequest) -> Asking:
    """What the guard needs to know of this request, as it stands now."""
    return askings([request])[request.id]


def askings(
    requests: Iterable[ApprovalRequest], *, moved: bool = True, levels_of: LevelsOf = escalations.levels_of
) -> dict[UUID, Asking]:
    """The same for many requests, with two queries in all, or one where none was ever reassigned (`moved`)."""
    wanted = list(requests)
    needs = {request.id: requirements.from_json(request.requirement) for request in wanted}
    levels = levels_of({need.escalation for need in needs.values() if need.escalation})
    moves: dict[UUID, list[tuple[UUID, UUID]]] = {}
    for move in Reassignment.objects.filter(request__in=list(needs)).order_by("at", "id") if moved else ():
        moves.setdefault(move.request_id, []).append((move.before_id, move.after_id))
    return {
        request.id: Asking(
            requirement=needs[request.id],
            level=request.escalation_level,
            escalation=levels.get(needs[request.id].escalation, escalations.NONE),
            initiators=frozenset(request.initiators),
            agent=request.agent,
            risk=request.risk,
            moves=tuple(moves.get(request.id, ())),
        )
        for request in wanted
    }


def may_decide(member: Member | UUID, request: ApprovalRequest) -> Verdict:
    """Whether this member may answer this request now, apart from its state and version."""
    key = member if isinstance(member, UUID) else member.id
    return judge(roster(), asking(request), key)


def judge(people: Roster, ask: Asking, member: UUID) -> Verdict:
    """The guard itself: pure, and no unless a line says yes."""
    someone = people.people.get(member)
    if someone is None or not someone.roles & {"reviewer", "admin"}:
        return Verdict(False, "role", _("Your role does not answer requests. A reviewer has to."))
    if _is_initiator(people, ask, member):
        return Verdict(False, "initiator", _("You started this run, so another person has to answer."))
    barred, instead = ask.moved()
    if member in barred:
        return Verdict(False, "reassigned", _("This was reassigned to somebody else, who answers now."))
    right = _right(people, ask, someone, instead)
    if right and right.level <= ask.level:
        return Verdict(True, voter=right.voter, level=right.level, asked_as=right.asked_as)
    return _as_stand_in(people, ask, someone) or _refused(people, someone, right, ask)


def standing_votes(request: ApprovalRequest) -> list[Vote]:
    """The approvals of the current version whose givers still have the right to give them."""
    reviews = Review.objects.filter(request=request, version=request.version).order_by("at", "id")
    return counted(roster(), asking(request), reviews)


def still_standing(people: Roster, need: Requirement, given: Given) -> list[Vote]:
    """The same of what was read before, by the people as they are; no query but for an escalation policy."""
    levels = escalations.levels_of([need.escalation] if need.escalation else [])
    ask = Asking(
        requirement=need,
        level=given.level,
        escalation=levels.get(need.escalation, escalations.NONE),
        initiators=given.initiators,
        agent=given.agent,
        risk=given.risk,
        moves=given.moves,
    )
    return counted(people, ask, given.reviews)


def counted(people: Roster, ask: Asking, reviews: Iterable[Review]) -> list[Vote]:
    """Those of `reviews` (of one version, oldest first) that count: one a person, and one a place.

    A vote given as a stand-in outlives the absence, but not the right of either of the two; one given on call
    outlives the turn.
    """
    people = people.lasting()
    last = {review.member_id: review for review in reviews}
    votes: dict[str, Vote] = {}
    for review in last.values():
        if review.decision in ("approve", "edit") and (voter := _still(people, ask, review)):
            votes.setdefault(voter.key, Vote(review, voter))
    return list(votes.values())


def approval_stands(request: ApprovalRequest) -> bool:
    """Whether an approved request is still carried by people who may approve it, or by silence."""
    if not Review.objects.filter(request=request).exists():
        return request.status == "approved"
    need = requirements.from_json(request.requirement)
    return requirements.missing(need, [vote.voter for vote in standing_votes(request)]) == 0


def able(people: Roster, ask: Asking) -> dict[UUID, Verdict]:
    """Everyone who may answer now, with the verdict that says as what."""
    judged = {member: judge(people, ask, member) for member in people.people}
    return {member: verdict for member, verdict in judged.items() if verdict.allowed}


def short_of(people: Roster, ask: Asking, may: Mapping[UUID, Verdict]) -> int:
    """How many people too few can answer at the present level even if all who may (`able`) approve, next to the votes
    that stand: a vote outlives a turn on call or an absence, and nobody who gave one gives another."""
    votes = counted(people, ask, ask.answers)
    voters = {vote.voter.key: vote.voter for vote in votes}
    given = {vote.review.member_id for vote in votes}
    for member, verdict in may.items():
        if verdict.voter and member not in given:
            voters.setdefault(verdict.voter.key, verdict.voter)
    return requirements.missing(ask.requirement, list(voters.values()))


def _is_initiator(people: Roster, ask: Asking, member: UUID) -> bool:
    switched = people.initiators_may_review and ask.risk != "critical"
    return member in ask.initiators and not switched


def _right(people: Roster, ask: Asking, someone: Someone, instead: Mapping[UUID, UUID]) -> _Right | None:
    """The member's own right, by the rule, by a level or by reassignment."""
    holders = people.restricted.get(ask.agent)
    if holders is not None and someone.person not in holders:
        return None
    own = _own_right(ask, someone)
    origin = people.people.get(instead[someone.id]) if someone.id in instead else None
    given = _own_right(ask, origin) if origin and "reviewer" in someone.roles else None
    if given is None:
        return own
    places = someone.places | given.voter.places
    return _Right(given.level, Voter(str(someone.id), places, given.voter.anywhere), "reassigned")


def _own_right(ask: Asking, someone: Someone) -> _Right | None:
    voter = Voter(str(someone.id), someone.places)
    filled = [place for place in ask.requirement.of if voter.fills(place)]
    if filled:
        return _Right(0, _with_levels(ask, someone, voter), _place_text(filled[0]))
    if "reviewer" not in someone.roles:
        return None
    for index, level in enumerate(ask.escalation.levels, start=1):
        if named := level.names(someone):
            asked_as = f"level:{index}" if named == "level" else f"rotation:{named}"
            return _Right(index, Voter(str(someone.id), someone.places, anywhere=True), asked_as)
    return None


def _with_levels(ask: Asking, someone: Someone, voter: Voter) -> Voter:
    """A level that has been reached lets its people fill any place, also those of level 0."""
    reached = ask.escalation.levels[: ask.level]
    if "reviewer" in someone.roles and any(level.names(someone) for level in reached):
        return Voter(voter.key, voter.places, anywhere=True)
    return voter


def _as_stand_in(people: Roster, ask: Asking, someone: Someone) -> Verdict | None:
    """The verdict as somebody's stand-in, or None where this member is no stand-in for anyone asked."""
    if "reviewer" not in someone.roles:
        return None
    shut_out = None
    for chain in people.chains.get(someone.id, ()):
        absent = people.people[chain[0]]
        if (right := _absent_right(people, ask, absent)) is None:
            continue
        if any(_is_initiator(people, ask, each) for each in chain):
            shut_out = Verdict(
                False, "stand_in", _("You stand in for somebody who started this run, so another person has to answer.")
            )
        elif right.level <= ask.level:
            return Verdict(
                True, voter=right.voter, in_place_of=absent.id, level=right.level, asked_as=f"stand_in:{absent.id}"
            )
    return shut_out


def _absent_right(people: Roster, ask: Asking, absent: Someone) -> _Right | None:
    barred, instead = ask.moved()
    return None if absent.id in barred else _right(people, ask, absent, instead)


def _refused(people: Roster, someone: Someone, right: _Right | None, ask: Asking) -> Verdict:
    holders = people.restricted.get(ask.agent)
    if holders is not None and someone.person not in holders:
        return Verdict(False, "not_asked", _("You can see this agent's runs, but you may not review them."))
    if right:
        return Verdict(False, "not_yet", _("You are asked later, if nobody has answered by then."), level=right.level)
    if "reviewer" not in someone.roles:
        return Verdict(False, "role", _("Your role does not answer requests. A reviewer has to."))
    return Verdict(False, "not_asked", _("The rule asks other people. You may read, not answer."))


def _still(people: Roster, ask: Asking, review: Review) -> Voter | None:
    """Who this review counts as, or None where its giver has lost the right."""
    if review.in_place_of_id is None:
        return judge(people, ask, review.member_id).voter
    giver, absent = people.people.get(review.member_id), people.people.get(review.in_place_of_id)
    if giver is None or absent is None or "reviewer" not in giver.roles:
        return None
    if _is_initiator(people, ask, giver.id) or _is_initiator(people, ask, absent.id):
        return None
    right = _absent_right(people, ask, absent)
    return right.voter if right and right.level <= ask.level else None


def _place_text(place: Any) -> str:
    return f"{place.kind}:{place.key}"
