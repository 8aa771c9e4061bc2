"""What the page of the outcome desk is given: one unknown outcome in full, the others as rows, what was typed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from approvals import writing
from approvals.display import Shown
from approvals.pages.parts import Fact
from runs.views.shapes import Param


@dataclass(frozen=True, kw_only=True)
class Known:
    """One thing known about a call whose answer never came; either `label` or `at` is set."""

    label: str = ""
    at: datetime | None = None
    text: str
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Where it may be seen whether the call happened. The times enclose every try that may have done it."""

    start: datetime | None = None
    end: datetime | None = None
    key: str = ""
    known_by_key: bool = True
    asked: list[Known]
    touches: list[Fact]
    undo: str = ""
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One unknown outcome in full, with what may be done about it. `cannot` is a code, empty if one may."""

    title: Shown
    tool: str
    effect: str
    run_title: Shown
    run_url: str
    step: int
    known: list[Known]
    params: list[Param]
    approved_by: list[str]
    risk: str
    look: Look
    may_settle: bool
    cannot: str
    settle_from: datetime | None
    can: list[str]
    barred: list[str]
    may_do_again: bool
    do_again_why: str
    url: str


@dataclass(frozen=True, kw_only=True)
class OutcomeRow:
    """One line of the desk. `state` is open, later, completed, not_done or do_again; `apart` is what the call sends
    and others of its title do not."""

    title: Shown
    run_title: Shown
    step: int
    apart: list[Fact]
    url: str
    since: datetime
    state: str
    from_: datetime | None = None
    settled_by: str = ""
    note: Shown | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class DeskView:
    """The outcome desk: one open in full, the others as rows; `settled` counts 30 days."""

    open: int
    oldest: datetime | None
    settled: int
    settled_url: str
    current: Outcome | None
    others: list[OutcomeRow]
    seq: int | None = None
    topics: str = "outcomes"


@dataclass(frozen=True, kw_only=True)
class SettleForm:
    """What was typed into the desk's form; `errors` maps a field to words, "" is the whole form."""

    outcome: str = ""
    note: str = ""
    result: str = ""
    no_result: bool = False
    """That a call which happened has no result to tell was stated, not left out."""
    errors: Mapping[str, str] = field(default_factory=dict)
    limit: int = writing.COMMENT
