"""Many alike, side by side: what is the same in all, what differs, and which ones stand out and are answered alone."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from approvals import requirements, reviewers, writing
from approvals.calls import MASK
from approvals.checks import number, text_of
from approvals.display import Shown, beginning, shown
from approvals.facts import Facts
from approvals.pages import alike, values
from approvals.pages.alike import Beside, Common, SameCall
from approvals.pages.flags import flags
from approvals.pages.parts import Cell, Column
from approvals.pages.question import agent_of
from approvals.pages.reader import Reader
from approvals.rosters import Roster

FEW = 4
"""From this many on, the one value that no other has makes its request stand out."""
SHOWN_CELL = 80
LONG_CELL = 40


@dataclass(frozen=True)
class BulkRow:
    """One request that can be answered with the others."""

    id: str
    version: int
    url: str
    label: Shown
    cells: Sequence[Cell]
    checked: bool
    more: int  # Approvals it still needs after this one.
    run_title: Shown | None
    asked_at: datetime
    beside: Beside


@dataclass(frozen=True)
class Outlier:
    """One request that is answered alone, and why."""

    label: Shown
    text: Shown
    url: str
    why: str


@dataclass(frozen=True)
class Result:
    """What became of one answer: approved, rejected, waits, decided, changed, expired, not_found or refused."""

    label: Shown
    state: str
    text: str
    url: str = ""


@dataclass(frozen=True)
class BulkView:
    """The page of comparison."""

    url: str
    title: Shown
    at: datetime
    risk: str = ""
    tool: str = ""
    agent: str = ""
    same: Sequence[Cell] = ()
    same_calls: Sequence[SameCall] = ()
    common: Common | None = None
    undo: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[BulkRow] = ()
    outliers: Sequence[Outlier] = ()
    voted: Sequence[Outlier] = ()
    answers: frozenset[str] = frozenset()
    reason_required: bool = False
    results: Sequence[Result] = ()
    left: int = 0
    """How many of those that were chosen are not here: no longer waiting, or not the reader's to read."""
    cut: int = 0
    """Of how many chosen ones only the first are compared; 0 where all are."""

    @property
    def runs(self) -> bool:
        """Whether this approval alone lets each of them run."""
        return not any(row.more for row in self.rows)

    @property
    def across(self) -> bool:
        """Whether the table needs the whole width: many columns, or several with long texts."""
        long = self.reads or any(len(str(cell)) > LONG_CELL for row in self.rows for cell in row.cells)
        columns = len(self.columns) + self.reads
        return columns > 3 or (columns > 2 and long)

    @property
    def reads(self) -> bool:
        """Whether a column tells what was read of each when it was asked."""
        return any(row.beside.read or row.beside.unread for row in self.rows)

    @property
    def leaves(self) -> bool:
        """Whether some are not ticked since they are the same call as another."""
        return any(row.beside.same and not row.checked for row in self.rows)

    @property
    def tally(self) -> list[tuple[str, int]]:
        """How many results of each state there are, the most first."""
        return Counter(each.state for each in self.results).most_common()


@dataclass(frozen=True)
class BulkForm:
    """What was chosen and typed, and what is wrong with it. `chosen` are the requests, None before anybody chose."""

    chosen: Collection[UUID] | None = None
    decision: str = ""
    reason: str = ""
    limit: int = writing.ANSWER
    errors: Mapping[str, str] = field(default_factory=dict)


def build(
    found: Sequence[Facts], names: Roster, reader: Reader, form: BulkForm, *, url: str, results: Sequence[Result]
) -> BulkView:
    """The page for those of the requests that still wait."""
    pending = [each for each in found if each.request.status == "pending"]
    voted = _voted([each for each in pending if reader.voted(each)], reader)
    waiting = [each for each in pending if not reader.voted(each)]
    apart = _apart(waiting, names, reader)
    rest = [each for each in waiting if each.request.pk not in apart]
    same = alike.same_calls(pending)
    view = BulkView(
        url=url,
        title=shown(_("Decide together")),
        at=reader.now,
        outliers=_outliers(waiting, apart, reader),
        voted=voted,
        same_calls=[alike.told(each, reader) for each in same],
        results=results,
    )
    chosen = form.chosen if form.chosen is not None else _chosen(rest, same, reader)
    return _compared(view, rest, alike.common(rest, same, names, reader), names, reader, chosen) if rest else view


def _chosen(rest: Sequence[Facts], same: Sequence[Sequence[Facts]], reader: Reader) -> set[UUID]:
    """What is ticked before anybody chose: each call once."""
    return {each.request.pk for each in rest} - alike.repeated(same, reader)


def _compared(
    view: BulkView,
    found: Sequence[Facts],
    common: Common,
    names: Roster,
    reader: Reader,
    chosen: Collection[UUID],
) -> BulkView:
    """The page with those that may be answered together, side by side."""
    texts = [_texts(each) for each in found]
    every = list(dict.fromkeys(name for each in texts for name in each))
    differing = [name for name in every if len({each.get(name) for each in texts}) > 1]
    row = found[0].request
    return replace(
        view,
        title=shown(f"{len(found)} × {row.tool_title or row.tool}"),
        risk=row.risk if len({each.request.risk for each in found}) == 1 else "",
        tool=row.tool,
        agent=agent_of(row) if len({agent_of(each.request) for each in found}) == 1 else "",
        same=[_cell(name, texts[0][name]) for name in every if name not in differing],
        common=common,
        undo=str(row.definition.get("undo") or ""),
        columns=[Column(name, _numeric(texts, name)) for name in differing],
        rows=[
            _row(each, text, differing, texts, reader, beside, more=_more(each, names, reader), chosen=chosen)
            for each, text, beside in zip(found, texts, common.besides, strict=True)
        ],
        answers=frozenset.intersection(*(frozenset(each.answers) for each in found)) & {"approve", "reject"},
        reason_required=any(each.requirement.reason_required for each in found),
    )


def _apart(waiting: Sequence[Facts], names: Roster, reader: Reader) -> dict[object, str]:
    """Which requests are answered alone, and why, in words."""
    usual = Counter(each.request.tool for each in waiting).most_common(1)
    apart: dict[object, str] = {}
    for each in waiting:
        verdict = reviewers.judge(names, each.ask, reader.id)
        if not verdict.allowed:
            apart[each.request.pk] = str(verdict.because)
        elif each.request.risk == "critical":
            apart[each.request.pk] = _("Critical requests are answered one by one.")
        elif found := flags(each, names):
            apart[each.request.pk] = f"{found[0].code} {found[0].lead}".strip()
        elif each.request.tool != usual[0][0]:
            apart[each.request.pk] = _("Another act than the others.")
    return apart | _lonely([each for each in waiting if each.request.pk not in apart])


def _lonely(rest: Sequence[Facts]) -> dict[object, str]:
    """Of at least four, the ones with a value that all the others share among themselves."""
    if len(rest) < FEW:
        return {}
    texts = [_texts(each) for each in rest]
    found: dict[object, str] = {}
    for name in texts[0]:
        counted = Counter(each.get(name, "") for each in texts).most_common(2)
        if counted[0][1] != len(rest) - 1:
            continue
        odd = next(i for i, each in enumerate(texts) if each.get(name, "") != counted[0][0])
        told = {"name": name, "value": texts[odd].get(name, "")[:SHOWN_CELL], "others": counted[0][0][:SHOWN_CELL]}
        found[rest[odd].request.pk] = _("%(name)s is %(value)s. The others: %(others)s.") % told
    return found


def _voted(found: Sequence[Facts], reader: Reader) -> list[Outlier]:
    """Those that wait for others: the reader's approval of them is in, and counts once."""
    return [
        Outlier(
            label=shown(each.request.tool),
            text=shown(each.version.title),
            url=reader.request_url(each.request.pk),
            why=_("%(given)s of %(needed)s approvals") % dict(zip(("given", "needed"), each.progress, strict=True)),
        )
        for each in found
    ]


def _outliers(waiting: Sequence[Facts], apart: Mapping[object, str], reader: Reader) -> list[Outlier]:
    return [
        Outlier(
            label=shown(each.request.tool),
            text=shown(each.version.title),
            url=reader.request_url(each.request.pk),
            why=str(shown(apart[each.request.pk])),
        )
        for each in waiting
        if each.request.pk in apart
    ]


def _texts(facts: Facts) -> dict[str, str]:
    """The bound arguments as text, sensitive ones masked."""
    masked = set(facts.request.definition.get("sensitive") or ())
    found = values.values_of(facts.version.arguments)
    return {name: MASK if name in masked else text_of(value) for name, value in found.items()}


def _more(facts: Facts, names: Roster, reader: Reader) -> int:
    """How many approvals are still missing once the reader has given theirs."""
    voters = {vote.voter.key: vote.voter for vote in facts.votes}
    mine = reviewers.judge(names, facts.ask, reader.id).voter
    if mine:
        voters.setdefault(mine.key, mine)
    return requirements.missing(facts.requirement, list(voters.values()))


def _numeric(texts: Sequence[Mapping[str, str]], name: str) -> bool:
    return all(number(each.get(name, "")) is not None for each in texts)


def _cell(name: str, text: str, *, numeric: bool = False) -> Cell:
    """A value of the comparison, with all of it at hand where only its beginning stands in the table."""
    if len(text) <= SHOWN_CELL:
        return Cell(shown(text).pieces, numeric, name)
    whole = shown(text) if len(text) <= alike.WHOLE else None
    return Cell(beginning(text, SHOWN_CELL).pieces, numeric, name, whole, len(text))


def _row(
    facts: Facts,
    text: Mapping[str, str],
    differing: Sequence[str],
    texts: Sequence[Mapping[str, str]],
    reader: Reader,
    beside: Beside,
    *,
    more: int,
    chosen: Collection[UUID],
) -> BulkRow:
    cells = [_cell(name, text.get(name, ""), numeric=_numeric(texts, name)) for name in differing]
    return BulkRow(
        id=str(facts.request.pk),
        version=facts.request.version,
        url=reader.request_url(facts.request.pk),
        label=shown(facts.version.title),
        cells=cells,
        checked=facts.request.pk in chosen,
        more=more,
        run_title=alike.run_title(facts.request),
        asked_at=facts.request.opened_at,
        beside=beside,
    )
