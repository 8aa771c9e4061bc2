"""The inbox as its page shows it: what waits for the reader, by when, and what came of the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from approvals import outcomes
from approvals.display import Shown, shown
from approvals.facts import Facts
from approvals.models import Viewing
from approvals.pages import people
from approvals.pages.asking_parts import VoteLine
from approvals.pages.background import outcome_words
from approvals.pages.flags import marked
from approvals.pages.parts import Badge
from approvals.pages.question import agent_of
from approvals.pages.reader import Reader
from approvals.rosters import Roster
from tenants import wording

_ENDS = {"expire": "expires", "fail_run": "fails", "approve": "approves"}


@dataclass(frozen=True)
class Chip:
    """A view of the list; `for_others` of its `count` have the reader's vote and wait for other people. `more` says
    that there are more than were counted."""

    label: str
    url: str
    count: int | None
    current: bool
    for_others: int = 0
    more: bool = False


@dataclass(frozen=True)
class FilterView:
    """What the list is narrowed by, and what can be chosen."""

    q: str = ""
    tool: str = ""
    agent: str = ""
    risk: str = ""
    tools: Sequence[str] = ()
    agents: Sequence[str] = ()
    active: bool = False
    clear_url: str = ""
    searched: str = ""
    action: str = ""


@dataclass(frozen=True)
class Last:
    """The reader's last answer, for an empty list."""

    title: Shown
    verb: str
    at: datetime


@dataclass(frozen=True)
class StandingIn:
    """Somebody the reader stands in for."""

    name: str
    until: datetime


@dataclass(frozen=True)
class PageView:
    """Keyset paging: of `total` in the whole list, or of `more` than that, `shown` stand on this page.

    `first_url` leads to where the list begins.
    """

    next_url: str = ""
    previous_url: str = ""
    first_url: str = ""
    shown: int = 0
    total: int = 0
    more: bool = False

    @property
    def whole(self) -> bool:
        """Whether this page is the whole list."""
        return not (self.next_url or self.first_url)


@dataclass(frozen=True)
class InboxItem:
    """One request in the list; nothing is decided here."""

    id: str
    url: str
    title: Shown
    risk: str
    agent: str
    run_title: Shown | None
    asked_at: datetime
    due_at: datetime
    due: str
    due_to: str
    deadline: datetime
    badges: Sequence[Badge] = ()
    note: str = ""
    selectable: bool = False
    count: int = 1
    differ: str = ""
    stand_out: int = 0
    viewing: Sequence[VoteLine] = ()


@dataclass(frozen=True)
class InboxGroup:
    """Requests that fall due in the same stretch of time: overdue, hour, today or later."""

    key: str
    items: Sequence[InboxItem]
    oldest: datetime | None


@dataclass(frozen=True)
class InboxView:
    """The whole list for one reader."""

    url: str
    as_of: datetime
    as_of_mark: str
    count: int
    chips: Sequence[Chip]
    filters: FilterView
    groups: Sequence[InboxGroup]
    decided_url: str
    page: PageView
    seq: int | None
    empty: str = ""
    besides: int = 0
    everything: bool = True
    """Whether the list is of all that asks the reader: no other view, no filter."""
    comes: str = ""
    """Of an empty inbox: the role by which something can come, reviewer or admin; "" where nothing can."""
    last: Last | None = None
    others: int = 0
    others_url: str = ""
    admins: Sequence[str] = ()
    away_until: datetime | None = None
    stand_in: str = ""
    reference: str = ""
    standing_in: Sequence[StandingIn] = ()
    new: int = 0
    topics: str = "inbox"

    @property
    def may_compare(self) -> bool:
        """Whether at least two of the list can be answered together."""
        return sum(item.selectable for group in self.groups for item in group.items) > 1


@dataclass(frozen=True)
class DecidedItem:
    """One request that has ended."""

    id: str
    url: str
    title: Shown
    risk: str
    state: str
    decision: str
    by: Sequence[str]
    you: bool
    at: datetime | None
    outcome_state: str
    outcome_text: str


@dataclass(frozen=True)
class DecidedView:
    """What was decided, newest first."""

    url: str
    chips: Sequence[Chip]
    filters: FilterView | None
    items: Sequence[DecidedItem]
    page: PageView
    empty: str = ""
    topics: str = field(default="inbox")


def groups(found: Sequence[Facts], names: Roster, reader: Reader) -> list[InboxGroup]:
    """The requests in stretches of time, by what happens next to each."""
    looking = _looking([each.request.pk for each in found], names, reader)
    items = [_item(each, names, reader, looking.get(str(each.request.pk), ())) for each in found]
    keyed: dict[str, list[InboxItem]] = {}
    for item in items:
        keyed.setdefault(_stretch(item.due_at, reader.now), []).append(item)
    return [
        InboxGroup(key, keyed[key], min(item.asked_at for item in keyed[key]))
        for key in ("overdue", "hour", "today", "later")
        if key in keyed
    ]


def decided(found: Sequence[Facts], names: Roster, reader: Reader) -> list[DecidedItem]:
    """The ended requests, each with what came of it."""
    told = outcomes.of([(each.request.subject, each.request.ref) for each in found])
    return [_decided(each, names, reader, told) for each in found]


def _item(facts: Facts, names: Roster, reader: Reader, looking: Sequence[VoteLine]) -> InboxItem:
    row = facts.request
    due_at, due, due_to = _next(facts, names)
    return InboxItem(
        id=str(row.pk),
        url=reader.request_url(row.pk),
        title=shown(facts.version.title),
        risk=row.risk,
        agent=agent_of(row),
        run_title=shown(str(row.run["title"])) if row.run.get("title") else None,
        asked_at=row.opened_at,
        due_at=due_at,
        due=due,
        due_to=due_to,
        deadline=row.deadline,
        badges=_badges(facts, names, reader),
        note=_alone(facts),
        selectable=row.risk != "critical" and not row.flags and not reader.voted(facts),
        viewing=looking,
    )


def _alone(facts: Facts) -> str:
    """Why this one is not chosen together with others, where it is not for its risk alone."""
    found = marked(facts)
    if not found:
        return ""
    return _("To be answered alone: %(why)s") % {"why": str(shown(f"{found[0].code} {found[0].lead}".strip()))}


def _next(facts: Facts, names: Roster) -> tuple[datetime, str, str]:
    """What happens next if nobody answers: when, which kind, and who is asked then."""
    row = facts.request
    rung = next((each for each in facts.rungs if each.at < row.deadline and not each.repeat), None)
    if rung is None:
        return row.deadline, _ENDS[facts.requirement.on_timeout], ""
    level = facts.ask.escalation.levels[rung.level - 1]
    return rung.at, "escalates", wording.listed(people.level_names(level, names))


def _badges(facts: Facts, names: Roster, reader: Reader) -> list[Badge]:
    given, needed = facts.progress
    found = []
    if needed > 1 or given:
        found.append(Badge(_("%(given)s of %(needed)s approvals") % {"given": given, "needed": needed}, "waiting"))
    if facts.request.version > 1:
        who = names.name(facts.version.edited_by_id)
        found.append(Badge(_("edited by %(who)s") % {"who": who}, "info"))
    if facts.request.supersedes_id:
        found.append(Badge(_("came back"), "stop"))
    if any(each["code"] in ("hidden", "lookalike") for each in facts.request.flags):
        found.append(Badge(_("hidden or look-alike characters"), "stop"))
    if reader.voted(facts):
        found.append(Badge(_("your vote is in"), "done"))
    elif by := reader.stood_in(facts):
        found.append(Badge(_("%(who)s voted in your place") % {"who": names.name(by)}, "done"))
    return found


def _stretch(at: datetime, now: datetime) -> str:
    if at <= now:
        return "overdue"
    if at <= now + timedelta(hours=1):
        return "hour"
    return "today" if timezone.localtime(at).date() == timezone.localtime(now).date() else "later"


def _looking(keys: Sequence[Any], names: Roster, reader: Reader) -> dict[str, list[VoteLine]]:
    since = reader.now - timedelta(seconds=120)
    rows = Viewing.objects.filter(request__in=keys, last__gte=since).exclude(member=reader.id)
    found: dict[str, list[VoteLine]] = {}
    for row in rows.order_by("since"):
        found.setdefault(str(row.request_id), []).append(VoteLine(names.name(row.member_id), row.since))
    return found


def _decided(
    facts: Facts, names: Roster, reader: Reader, told: Mapping[tuple[str, str], outcomes.Outcome]
) -> DecidedItem:
    row = facts.request
    ends = {"approved": ("approve", "edit"), "rejected": ("reject",), "responded": ("respond",)}
    verbs = ends.get(row.status, ())
    givers = [each.member_id for each in facts.reviews if each.version == row.version and each.decision in verbs]
    outcome = told.get((row.subject, row.ref))
    return DecidedItem(
        id=str(row.pk),
        url=reader.request_url(row.pk),
        title=shown(facts.version.title),
        risk=row.risk,
        state=row.status,
        decision=row.decision,
        by=[names.name(member) for member in dict.fromkeys(givers) if member != reader.id],
        you=reader.id in givers,
        at=row.decided_at,
        outcome_state=outcome.state if outcome else "",
        outcome_text=outcome_words(row.status, outcome),
    )
