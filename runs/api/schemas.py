"""The shapes of runs, steps and events as the API takes and gives them. Order and names bind."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AwareDatetime, ConfigDict, Field, PlainSerializer, WithJsonSchema

from runs import states
from tenants.event_names import NAMES

_STEP_STATES = states.TURN.states | states.TOOL.states | {"waiting_approval", "approved"}
RunStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(states.RUN.states)})]
StepStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": sorted(_STEP_STATES)})]
EventName = Annotated[str, WithJsonSchema({"type": "string", "enum": list(NAMES)})]
Text = Annotated[str, Field(max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


def written(at: datetime) -> str:
    """The time as the API writes it: RFC 3339 with milliseconds and offset."""
    return at.isoformat(timespec="milliseconds")


Time = Annotated[datetime, PlainSerializer(written, return_type=str)]


Filter = Annotated[str, Field(max_length=500)]


class PageQuery(Schema):
    """Where in a list, and how much of it."""

    cursor: Filter | None = Field(None, description="What `next` of the page before said")
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class RunFilters(Schema):
    """What narrows the list of runs."""

    status: Filter = Field("", description="A state, several with commas, or `open`")
    agent: Filter = ""
    label: Filter = Field("", description="`name` or `name=value`")
    waiting_on: Filter = Field("", description="`approval`, `outcome`, `time`, `attention`, `me`, or a member")
    since: AwareDatetime | None = Field(None, description="Started at or after this time")


class RunsQuery(RunFilters, PageQuery):
    """Which runs, and where in their list."""


class EventsQuery(PageQuery):
    """From where, and how long to wait."""

    after: Annotated[int, Field(ge=0, le=2**62)] = Field(0, description="The number of the last event one knows")
    wait: Annotated[int, Field(ge=0, le=60)] = Field(0, description="Seconds to wait for the first event after it")


class Strict(Schema):
    """A body in which an unknown field is a mistake that is named."""

    model_config = ConfigDict(extra="forbid")


class RunIn(Strict):
    """What starts a run. `input` is any JSON value; `on_behalf_of` the e-mail or id of a member."""

    agent: Name
    input: Any
    title: Annotated[str, Field(max_length=300)] = ""
    version: Annotated[str, Field(max_length=100)] | None = None
    deadline: AwareDatetime | None = None
    on_behalf_of: Annotated[str, Field(max_length=320)] | None = None
    labels: Annotated[dict[Annotated[str, Field(max_length=100)], Annotated[str, Field(max_length=500)]],
                      Field(max_length=50)] = Field(default_factory=dict)  # fmt: skip


class BudgetIn(Strict):
    """A new bound for the whole run; what is left out stays as it is."""

    tokens: Annotated[int, Field(ge=1, le=2**53, strict=True)] | None = None
    cost: Annotated[str, Field(pattern=r"^\d{1,12}(\.\d{1,6})?$")] | None = None
    seconds: Annotated[int, Field(ge=1, le=2**31, strict=True)] | None = None


class StopIn(Strict):
    """Why a run is stopped or paused."""

    comment: Annotated[str, Field(max_length=10_000)] = ""


class ResumeIn(Strict):
    """Resume, with more of what ran out where it was a budget."""

    budget: BudgetIn | None = None


class CommentIn(Strict):
    """What is said beside a run."""

    text: Annotated[str, Field(min_length=1, max_length=10_000)]


class SettleIn(Strict):
    """How an unknown outcome is settled; `result` is any JSON value the agent then gets, plain text as a string."""

    outcome: Literal["completed", "not_done", "do_again"]
    note: Annotated[str, Field(min_length=1, max_length=10_000)]
    result: Any = None


class MemberRef(Schema):
    """A member, by id and name."""

    member: str
    name: str


class Wait(Schema):
    """One thing a run waits for: people, a time, or somebody who puts something right."""

    kind: Literal["approval", "outcome", "time", "attention"]
    step: int | None
    request: str | None
    members: list[MemberRef]
    since: Time | None
    until: Time | None


class Usage(Schema):
    """What the run has used so far. `cost` is a decimal as text, null where no provider reported it."""

    model_turns: int
    tool_calls: int
    tokens: int
    cost: str | None
    seconds: Any


class RunOut(Schema):
    """A run."""

    id: str
    agent: str
    version: str
    title: str
    status: RunStatus
    reason: str | None
    input: Any
    result: Any
    labels: dict[str, str]
    deadline: Time | None
    initiators: list[MemberRef]
    created_at: Time
    updated_at: Time
    finished_at: Time | None
    waiting_on: list[Wait]
    usage: Usage


class AttemptOut(Schema):
    """One try at a step."""

    number: int
    kind: Literal["call", "lookup", "precondition", "evidence"]
    opened_at: Time
    closed_at: Time | None
    cause: str | None
    message: str | None
    next_at: Time | None


class ActorOut(Schema):
    """Who acted."""

    kind: Literal["person", "key", "worker", "system", "command", "anonymous"]
    id: str
    name: str
    member: str | None


class SettledOut(Schema):
    """What a person stated of a call whose answer never came; the last statement, should there be several."""

    outcome: Literal["completed", "not_done", "do_again"]
    by: ActorOut
    at: Time
    note: str


class StepOut(Schema):
    """A step. `arguments` are the bound ones; `result` is the JSON value that came, or its text."""

    seq: int
    kind: str
    status: StepStatus
    tool: str | None
    arguments: Any
    digest: str | None
    rationale: str | None
    result: Any
    reason: str | None
    request: str | None
    attempts: list[AttemptOut]
    settled: SettledOut | None


class EventOut(Schema):
    """One past-tense fact."""

    seq: int
    name: EventName
    at: Time
    actor: ActorOut
    message: str
    data: dict[str, Any]


class RunPage(Schema):
    """A page of runs; `next` is the cursor of what follows, null at the end."""

    items: list[RunOut]
    next: str | None


class StepPage(Schema):
    """A page of steps in their order."""

    items: list[StepOut]
    next: str | None


class EventPage(Schema):
    """Events in their order. `next` is null where there are none after the last one here."""

    items: list[EventOut]
    next: str | None
