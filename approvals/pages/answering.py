"""Who answers and how: the rules that asked, the votes so far, and what this reader may do."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals import requirements, reviewers, rules
from approvals.facts import Facts
from approvals.pages import clocks, people
from approvals.pages.asking_parts import GapLine, Later, RungLine, VoteLine
from approvals.pages.parts import RuleLine
from approvals.pages.reader import Reader
from approvals.requirements import Requirement
from approvals.reviewers import Verdict
from approvals.rosters import Roster


@dataclass(frozen=True)
class Answering:
    """Who is asked, who has answered, and which answers this reader has."""

    rules: Sequence[RuleLine]
    ladder: Sequence[RungLine]
    clocks: Sequence[str]
    answers: frozenset[str]
    reason_required: bool
    second_factor: bool
    approvals_given: int
    approvals_needed: int
    approvals_least: bool
    approvals_after: int
    approvals_open: Sequence[GapLine]
    approvals_open_after: Sequence[GapLine]
    votes: Sequence[VoteLine]
    my_vote: VoteLine | None
    lapsed: Sequence[VoteLine]
    cannot: str
    cannot_text: str
    can: Sequence[str]
    can_later: Sequence[Later]
    shortage: str


def answering(facts: Facts, names: Roster, reader: Reader) -> Answering:
    """Who is asked, who has answered, and which answers this reader has."""
    verdict = reviewers.judge(names, facts.ask, reader.id)
    mine = _mine(facts, names, reader)
    given, needed = facts.progress
    with_theirs = [*facts.voters, *([verdict.voter] if verdict.voter else [])]
    row = facts.request
    return Answering(
        rules=rule_lines(facts.requirement, names, reader),
        ladder=people.ladder(facts, names, reader=reader.id),
        clocks=clocks.counted(facts) if row.status == "pending" else (),
        answers=_answers(facts, verdict, mine),
        reason_required=facts.requirement.reason_required,
        second_factor=reader.wants_factor and row.risk == "critical",
        approvals_given=given,
        approvals_needed=needed,
        approvals_least=requirements.may_grow(facts.requirement) and needed > given,
        approvals_after=requirements.missing(facts.requirement, with_theirs),
        approvals_open=people.waiting_for(facts, names) if row.status == "pending" else (),
        approvals_open_after=people.gap_lines(requirements.gaps(facts.requirement, with_theirs), names),
        votes=people.votes(facts, names, reader=reader.id),
        my_vote=mine,
        lapsed=people.lapsed(facts, names, reader=reader.id),
        cannot=_cannot(verdict),
        cannot_text=str(verdict.because) if verdict.code in ("reassigned", "stand_in") else "",
        can=[names.name(member) for member in people.able_now(facts, names) if member != reader.id],
        can_later=people.can_later(facts, names),
        shortage=people.shortage(facts),
    )


def rule_lines(demanded: Requirement, names: Roster, reader: Reader) -> list[RuleLine]:
    """Every rule that asks for a call, in the order of the rules."""
    may_open = reader.member.has("admin")
    return [
        RuleLine(
            name=rules.named(each.name),
            url=f"{reader.base}settings/policies/{each.rule}/" if may_open and each.rule != "default" else "",
            condition=each.condition,
            needed=each.approvals,
            of=[people.place_name(place, names) for place in each.places],
            error=each.error,
        )
        for each in demanded.trace
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
