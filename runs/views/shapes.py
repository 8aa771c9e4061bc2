"""What the templates of the run pages are given: frozen values, text of others cut at its hidden characters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from approvals.display import Shown
from approvals.pages.parts import CommentLine


@dataclass(frozen=True, kw_only=True)
class Page:
    """Where a list goes on, empty where it ends."""

    next_url: str = ""
    previous_url: str = ""


@dataclass(frozen=True, kw_only=True)
class Chip:
    """One way to narrow a list; `count` is None where nobody counted."""

    label: str
    url: str
    count: int | None = None
    current: bool = False


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What the list of runs is narrowed to; `searched` says which window of time `q` looked through."""

    q: str = ""
    status: str = ""
    agent: str = ""
    agents: list[str] = field(default_factory=list)
    active: bool = False
    clear_url: str = ""
    searched: str = ""


@dataclass(frozen=True, kw_only=True)
class RunItem:
    """One run in the list."""

    id: str
    url: str
    title: Shown
    agent: str
    status: str
    reason: str
    waiting_for: str
    started_at: datetime
    started_by: str
    updated_at: datetime
    finished_at: datetime | None
    steps_done: int
    steps: int


@dataclass(frozen=True, kw_only=True)
class ListView:
    """The list of runs. `empty` is nothing, no_match, no_agent or ""."""

    url: str
    as_of: datetime
    chips: list[Chip]
    filters: Filters
    items: list[RunItem]
    empty: str
    admins: list[str]
    page: Page
    seq: int | None = None
    may_start: bool = False
    start_url: str = ""
    topics: str = "runs"


@dataclass(frozen=True, kw_only=True)
class Param:
    """One bound argument; `whole` and `length` (characters) are set where `value` is only its beginning."""

    name: Shown
    value: Shown
    code: bool = True
    whole: Shown | None = None
    length: int = 0
    download_url: str = ""
    masked: bool = False
    was: Shown | None = None
    checked: str = ""
    about: str = ""
    hidden_names: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class HoldUp:
    """One thing that keeps the run from going on.

    `kind` is unknown, approval, sleeping, version, silent, permission, budget, crash_loop, paused or nobody.
    """

    kind: str
    step: int | None = None
    title: Shown | None = None
    url: str = ""
    since: datetime | None = None
    given: int = 0
    needed: int = 0
    next_at: datetime | None = None
    next_to: str = ""
    expires_at: datetime | None = None
    because: str = ""
    detail: Shown | None = None


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the run ended: its result or its error, what was in hand, and what had already happened."""

    at: datetime
    by: str
    text: Shown | None
    in_hand: list[Shown]
    done: list[Shown]


@dataclass(frozen=True, kw_only=True)
class AttemptView:
    """One try at a step; `kind` is call, lookup, precondition or evidence, `not_done` that nothing left with it."""

    number: int
    kind: str
    opened_at: datetime
    closed_at: datetime | None
    cause: str
    not_done: bool
    message: Shown | None
    next_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class StepRequest:
    """The latest approval request of a step, as far as the timeline tells it."""

    url: str
    given: int
    needed: int
    asked_at: datetime
    state: str
    expires_at: datetime | None
    edited_by: str = ""
    approved_by: list[str] = field(default_factory=list)
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What a person stated of a call whose answer never came; `outcome` is completed, not_done or do_again."""

    outcome: str
    by: str
    at: datetime
    note: Shown | None


@dataclass(frozen=True, kw_only=True)
class StepView:
    """One step. `kind` is model, tool, compaction or observation; `seconds` is work, not waiting."""

    seq: int
    kind: str
    status: str
    title: Shown | None
    tool: str
    risk: str
    reason: str
    at: datetime
    seconds: float | None
    tokens: int | None
    tries: int
    attempts: list[AttemptView]
    result: Shown | None = None
    result_whole: Shown | None = None
    result_length: int = 0
    result_url: str = ""
    arguments: list[Param] = field(default_factory=list)
    rationale: Shown | None = None
    reason_text: Shown | None = None
    request: StepRequest | None = None
    progress: Shown | None = None
    progress_done: int | None = None
    progress_total: int | None = None
    wants: Shown | None = None
    settled: Settled | None = None

    @property
    def tells_result(self) -> bool:
        """Whether there is anything to read in its result."""
        return self.result is not None and bool(str(self.result).strip())


@dataclass(frozen=True, kw_only=True)
class EventLine:
    """One event in a person's words."""

    seq: int
    at: datetime
    name: str
    words: str
    step: int | None
    actor: str
    text: Shown


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A run's own page. Seconds of model and tools are work; those of people are waiting."""

    id: str
    reference: str
    url: str
    title: Shown
    agent: str
    model: str
    status: str
    reason: str
    holdups: list[HoldUp]
    ended: Ended | None
    verbs: list[str]
    resume_budget: bool
    started_at: datetime
    started_by: str
    finished_at: datetime | None
    labels: Mapping[str, str]
    deadline: datetime | None
    tokens: int | None
    tokens_of: int | None
    cost: str
    model_turns: int
    model_seconds: float
    tool_calls: int
    tool_seconds: float
    people_seconds: float
    outcome_seconds: float
    """Of these, those in which the outcome of a call was unknown until a manager settled it."""
    outcome_open_seconds: float
    """Of these, those since one became unknown that still is."""
    vanished_seconds: float
    """Seconds in which a worker that had vanished held a call or a turn; neither work nor waiting for people."""
    people_since: datetime | None
    steps: list[StepView]
    steps_total: int
    steps_hidden: int
    steps_done: int
    next_text: str
    events: list[EventLine]
    events_url: str
    comments: list[CommentLine]
    may_comment: bool
    proof_url: str
    topics: str
    seq: int | None

    @property
    def worked_seconds(self) -> float:
        """Seconds of work: the model's and the tools'."""
        return self.model_seconds + self.tool_seconds
