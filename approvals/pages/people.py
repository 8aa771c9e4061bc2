"""The people of a request as its page tells of them: who is asked until when, who can, who cannot and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from approvals import clock, escalations, requirements, reviewers, rotas
from approvals.facts import Facts
from approvals.models import Review
from approvals.pages.asking_parts import DutyLine, GapLine, Later, PlaceLine, RungLine, RungPerson, VoteLine, Waiting
from approvals.requirements import Gap, Place, Voter
from approvals.reviewers import Verdict
from approvals.rosters import OnCall, Roster, Someone
from tenants import wording

_ENDS = {"expire": "expires", "fail_run": "fails", "approve": "approves"}


def ladder(facts: Facts, names: Roster, *, reader: UUID) -> list[RungLine]:
    """Level 0, the levels of the escalation, and the end that silence brings; once it is closed, only what came."""
    row, answers = facts.request, _answers(facts)
    judged = {member: reviewers.judge(names, facts.ask, member) for member in names.people}
    first = RungLine(
        kind="level",
        name=wording.listed(place_name(place, names) for place in facts.requirement.of),
        at=row.opened_at,
        current=row.escalation_level == 0,
        reached=True,
        places=[_place(name, inside, judged, answers, names, reader=reader) for name, inside in _of_rule(facts, names)],
    )
    end = RungLine(kind=_ENDS[facts.requirement.on_timeout], at=row.deadline)
    later = [*_levels(facts, names, judged, answers, reader=reader), end]
    closed = row.decided_at
    return [first, *(rung for rung in later if closed is None or rung.reached or (rung.at and rung.at <= closed))]


def votes(facts: Facts, names: Roster, *, reader: UUID) -> list[VoteLine]:
    """The approvals that count for the version that stands."""
    return [vote_line(vote.review, names, reader=reader) for vote in facts.votes]


def lapsed(facts: Facts, names: Roster, *, reader: UUID) -> list[VoteLine]:
    """Approvals that no longer count: of earlier versions, or of somebody who lost the right."""
    counts = {vote.review.pk for vote in facts.votes}
    gone = [each for each in facts.reviews if each.decision in ("approve", "edit") and each.pk not in counts]
    return [vote_line(each, names, reader=reader) for each in gone]


def vote_line(review: Review, names: Roster, *, reader: UUID) -> VoteLine:
    """One answer as a line."""
    absent = review.in_place_of_id
    return VoteLine(
        name=names.name(review.member_id),
        at=review.at,
        you=review.member_id == reader,
        decision=review.decision,
        version=review.version,
        in_place_of=names.name(absent) if absent else "",
    )


def able_now(facts: Facts, names: Roster) -> list[UUID]:
    """Who may answer now and has not answered the version that stands, nor had it answered in their place."""
    reviews = [review for review in facts.reviews if review.version == facts.request.version]
    given = {member for review in reviews for member in (review.member_id, review.in_place_of_id)}
    return [member for member in reviewers.able(names, facts.ask) if member not in given]


def able_later(facts: Facts, names: Roster) -> list[tuple[datetime, list[UUID]]]:
    """Who may answer besides from each later level on."""
    known = set(reviewers.able(names, facts.ask))
    found = []
    for rung in facts.rungs:
        if rung.repeat or rung.at >= facts.request.deadline:
            continue
        then = set(reviewers.able(names, replace(facts.ask, level=rung.level)))
        if added := sorted(then - known, key=names.name):
            found.append((rung.at, added))
        known |= then
    return found


def waiting_for(facts: Facts, names: Roster) -> list[GapLine]:
    """How many more are needed of whom, and who of them has not answered, those who may answer now first."""
    voters = {member: reviewers.judge(names, facts.ask, member).voter for member in able_now(facts, names)}
    later = [Waiting(names.name(member), at) for at, members in able_later(facts, names) for member in members]
    found = requirements.gaps(facts.requirement, facts.voters)
    return [
        replace(line, people=[*(Waiting(names.name(each)) for each in _who_fill(gap, voters)), *later])
        for gap, line in zip(found, gap_lines(found, names), strict=True)
    ]


def gap_lines(gaps: Iterable[Gap], names: Roster) -> list[GapLine]:
    """How many more are needed of whom."""
    return [GapLine(gap.number, wording.listed(place_name(place, names) for place in gap.places)) for gap in gaps]


def _who_fill(gap: Gap, voters: Mapping[UUID, Voter | None]) -> list[UUID]:
    return [member for member, voter in voters.items() if voter and any(voter.fills(place) for place in gap.places)]


def can_later(facts: Facts, names: Roster) -> list[Later]:
    """The same by moment."""
    return [Later(at, [names.name(each) for each in members]) for at, members in able_later(facts, names)]


def shortage(facts: Facts) -> str:
    """A sentence where fewer people than needed can ever answer; empty else."""
    short = facts.request.short
    if not short:
        return ""
    return ngettext(
        "One more person would have to be able to answer. The admins know, and the deadline runs.",
        "%(n)s more people would have to be able to answer. The admins know, and the deadline runs.",
        short,
    ) % {"n": short}


def placed(place: Place, names: Roster) -> str:
    """The place's name, with how many of it there must be."""
    name = place_name(place, names)
    return _("%(name)s (at least %(n)s)") % {"name": name, "n": place.at_least} if place.at_least else name


def of_whom(places: Sequence[Place], names: Roster, *, needed: int) -> list[str]:
    """The places of whom `needed` people are asked; how many of each there must be where that number says it not."""
    if len(places) == 1 and places[0].at_least >= needed:
        return [place_name(places[0], names)]
    return [placed(each, names) for each in places]


def place_name(place: Place, names: Roster) -> str:
    """A place in words: a group's or a member's name, or a role."""
    if place.kind == "group":
        return names.groups.get(place.key, "–")
    if place.kind == "member":
        return next((each.name for each in names.people.values() if str(each.id) == place.key), "–")
    return _("Any administrator") if place.key == "admin" else _("Any reviewer")


def _reached_at(facts: Facts, rung: escalations.Rung) -> datetime | None:
    """Since when a level has been asked: it may have been before its time, by hand or because too few could answer."""
    began = min((each.since for each in facts.asked if each.level == rung.level), default=None)
    return began or (rung.at if rung.at <= clock.now() else None)


def _levels(
    facts: Facts,
    names: Roster,
    judged: Mapping[UUID, Verdict],
    answers: Mapping[UUID, Review],
    *,
    reader: UUID,
) -> list[RungLine]:
    schedule = escalations.schedule(facts.ask.escalation, opened_at=facts.request.opened_at)
    lines = []
    for rung, level in zip(schedule, facts.ask.escalation.levels, strict=False):
        inside = [each for each in names.people.values() if level.names(each)]
        reached = facts.request.escalation_level >= rung.level
        duties = [names.rotations[key] for key in sorted(level.rotations) if key in names.rotations]
        lines.append(
            RungLine(
                kind="level",
                name=wording.listed(level_names(level, names)),
                at=_reached_at(facts, rung) if reached else rung.at,
                current=facts.request.escalation_level == rung.level,
                reached=reached,
                adds=True,
                places=[_place("", inside, judged, answers, names, reader=reader)],
                duties=[_duty(each, names, reader=reader) for each in duties],
            )
        )
    return lines


def _duty(rotation: OnCall, names: Roster, *, reader: UUID) -> DutyLine:
    """Who is on call for a level now."""
    turn = rotation.turn
    begins = None if turn.begun else rotas.begins(rotation.rota)
    passed = [names.name(each) for each in turn.instead_of]
    who = names.name(turn.member) if turn.member else ""
    return DutyLine(who, you=turn.member == reader, until=turn.ends, begins=begins, instead_of=passed)


def level_names(level: escalations.Level, names: Roster) -> list[str]:
    """The groups, members and rotations of a level, by name."""
    groups = [names.groups.get(each, "–") for each in sorted(level.groups)]
    members = [each.name for each in names.people.values() if str(each.id) in level.members]
    turns = [each.rota.name for key, each in names.rotations.items() if key in level.rotations]
    return groups + members + [_("On call: %(name)s") % {"name": name} for name in sorted(turns)]


def _of_rule(facts: Facts, names: Roster) -> list[tuple[str, list[Someone]]]:
    """The people of each place; a place that is the only one, or itself a person, needs no name before them."""
    of = facts.requirement.of
    inside = [[each for each in names.people.values() if (place.kind, place.key) in each.places] for place in of]
    if len(of) == 1 or all(place.kind == "member" for place in of):
        return [("", list({each.id: each for people in inside for each in people}.values()))]
    return [(place_name(place, names), people) for place, people in zip(of, inside, strict=True)]


def _place(
    name: str,
    inside: Iterable[Someone],
    judged: Mapping[UUID, Verdict],
    answers: Mapping[UUID, Review],
    names: Roster,
    *,
    reader: UUID,
) -> PlaceLine:
    people = _people(inside, judged, answers, names, reader=reader)
    plain = [pgettext("who is asked", "You") if each.you else each.name for each in people if each.state == "can"]
    return PlaceLine(name, plain, [each for each in people if each.state != "can"])


def _people(
    people: Iterable[Someone],
    judged: Mapping[UUID, Verdict],
    answers: Mapping[UUID, Review],
    names: Roster,
    *,
    reader: UUID,
) -> list[RungPerson]:
    ordered = sorted(people, key=lambda each: (each.id != reader, each.name))
    return [_person(each, judged[each.id], answers.get(each.id), names, reader=reader) for each in ordered]


def _person(someone: Someone, verdict: Verdict, answer: Review | None, names: Roster, *, reader: UUID) -> RungPerson:
    state, why, instead = _state(someone, verdict, answer, names)
    away = names.away(someone.id) if state == "away" else None
    return RungPerson(
        someone.name,
        you=someone.id == reader,
        state=state,
        why=why,
        in_place_of=instead,
        until=away.until if away else None,
        stand_in=names.name(away.by) if away else "",
    )


def _state(someone: Someone, verdict: Verdict, answer: Review | None, names: Roster) -> tuple[str, str, str]:
    if answer is not None:
        state = {"reject": "rejected", "respond": "responded"}.get(answer.decision, "approved")
        absent = answer.in_place_of_id
        return state, "", names.name(absent) if absent else ""
    if verdict.code == "initiator":
        return "barred", _("started the run."), ""
    if verdict.code == "reassigned":
        return "left", "", ""
    if names.away(someone.id):
        return "away", "", ""
    return "can", "", ""


def _answers(facts: Facts) -> dict[UUID, Any]:
    return {each.member_id: each for each in facts.reviews if each.version == facts.request.version}
