"""What many requests have in common besides their values: the same call twice, who asks for each, what was read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.utils.translation import gettext as _

from approvals.calls import MASK
from approvals.display import Shown, shown
from approvals.facts import Facts
from approvals.models import ApprovalRequest
from approvals.pages import answering, values
from approvals.pages.parts import Fact, RuleLine
from approvals.pages.reader import Reader
from approvals.rosters import Roster

Said = TypeVar("Said", RuleLine, Fact)

WHOLE = 4_000
"""Characters of a value that can be unfolded in the table; a longer one is read on the page of its request."""
SHOWN_FACTS = 12
"""How many facts of one request's evidence stand in the table; its own page has them all."""


@dataclass(frozen=True)
class One:
    """One request of several that are the same call; `voted` where the reader's approval of it is in."""

    url: str
    run_title: Shown | None
    asked_at: datetime
    voted: bool


@dataclass(frozen=True)
class SameCall:
    """A call that several of the requests ask for: the same tool with exactly the same bound arguments."""

    tool: Shown
    title: Shown
    ones: Sequence[One]


@dataclass(frozen=True)
class Beside:
    """What one request says besides its values: how many of the page are the same call (0: none other), the rules
    that ask for it and not for all, the evidence that is not the same in all, or why there is none."""

    same: int = 0
    rules: Sequence[RuleLine] = ()
    read: Sequence[Fact] = ()
    left: int = 0
    unread: str = ""


@dataclass(frozen=True)
class Common:
    """What holds for each of the requests, and what each has of its own, in their order."""

    rules: Sequence[RuleLine]
    read: Sequence[Fact]
    nothing_read: bool
    besides: Sequence[Beside]

    @property
    def brief(self) -> list[Fact]:
        """What was read of all that stands there whole."""
        return [each for each in self.read if not each.length]

    @property
    def long(self) -> list[Fact]:
        """What was read of all of which the beginning stands there."""
        return [each for each in self.read if each.length]


def same_calls(found: Sequence[Facts]) -> list[list[Facts]]:
    """The requests that are the same call as another of them, the first asked first."""
    by_call: dict[tuple[str, str], list[Facts]] = {}
    for each in sorted(found, key=lambda one: (one.request.opened_at, one.request.pk)):
        by_call.setdefault((each.request.tool, each.version.digest), []).append(each)
    return [same for same in by_call.values() if len(same) > 1]


def repeated(same: Sequence[Sequence[Facts]], reader: Reader) -> frozenset[UUID]:
    """Those that ask again for a call that is asked for already: all but one, or all where one is approved."""
    found = set()
    for each in same:
        first = next((one for one in each if reader.voted(one)), each[0])
        found |= {one.request.pk for one in each if one is not first}
    return frozenset(found)


def told(same: Sequence[Facts], reader: Reader) -> SameCall:
    """These requests, which are one call, as the page names them."""
    first = same[0]
    ones = [_one(each, reader) for each in same]
    return SameCall(shown(first.request.tool), shown(first.version.title), ones)


def _one(facts: Facts, reader: Reader) -> One:
    row = facts.request
    return One(reader.request_url(row.pk), run_title(row), row.opened_at, reader.voted(facts))


def run_title(row: ApprovalRequest) -> Shown | None:
    """What the run is called in which it was asked, if it has a name."""
    return shown(str(row.run["title"])) if row.run.get("title") else None


def common(alike: Sequence[Facts], same: Sequence[Sequence[Facts]], names: Roster, reader: Reader) -> Common:
    """What is the same in all of these, and what each has besides."""
    rules = [answering.rule_lines(each.requirement, names, reader) for each in alike]
    read = [_read(each) for each in alike]
    every_rule, every_fact = _in_all(rules), _in_all(read)
    together = {each.request.pk: len(one) for one in same for each in one}
    besides = [
        replace(
            _evidence(each.request, [fact for fact in facts if fact not in every_fact]),
            same=together.get(each.request.pk, 0),
            rules=[line for line in lines if line not in every_rule],
        )
        for each, lines, facts in zip(alike, rules, read, strict=True)
    ]
    nothing = all(each.request.evidence is None and not each.request.evidence_error for each in alike)
    return Common(every_rule, [_bounded(each) for each in every_fact], nothing, besides)


def _in_all(lists: Sequence[Sequence[Said]]) -> list[Said]:
    return [each for each in lists[0] if all(each in one for one in lists)]


def _read(facts: Facts) -> list[Fact]:
    """The evidence read when it was asked; what was read of a sensitive parameter stays masked as it is."""
    masked = set(facts.request.definition.get("sensitive") or ())
    found = values.facts(facts.request.evidence)
    return [Fact(each.name, shown(MASK)) if each.name in masked else each for each in found]


def _bounded(fact: Fact) -> Fact:
    """A fact that may be unfolded beside many others; a longer one is read on the page of its request."""
    return replace(fact, whole=None) if fact.length > WHOLE else fact


def _evidence(row: ApprovalRequest, own: Sequence[Fact]) -> Beside:
    if row.evidence_error:
        return Beside(unread=_("It could not be read: %(why)s") % {"why": str(shown(row.evidence_error))})
    return Beside(read=[_bounded(each) for each in own[:SHOWN_FACTS]], left=max(len(own) - SHOWN_FACTS, 0))
