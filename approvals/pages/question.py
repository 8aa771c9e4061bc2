"""The question as its page shows it: the act from bound parameters, and beside it what its other parts say."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from approvals import queries
from approvals.api.shapes import step_of
from approvals.display import Shown, shown
from approvals.facts import Facts
from approvals.models import ApprovalRequest
from approvals.pages import values
from approvals.pages.aftermath import Aftermath, aftermath
from approvals.pages.answering import Answering, answering
from approvals.pages.background import Background, background
from approvals.pages.flags import flags
from approvals.pages.parts import Changed, Confirm, Flag, Lost, Param, Position
from approvals.pages.reader import Reader
from approvals.pages.written import EditView
from approvals.rosters import Roster
from tenants import events, ids

MAX_FLAGS = 3


@dataclass(frozen=True, kw_only=True)
class RequestView(Background, Answering, Aftermath):
    """Everything the request page needs; names and meanings are agreed with its template."""

    id: str
    reference: str
    url: str
    title: Shown
    tool: Shown
    risk: str
    version: int
    versions: int
    agent: str
    started_by: str
    asked_at: datetime
    deadline: datetime
    run_title: Shown | None
    run_url: str
    step: int | str | None
    state: str
    flags: Sequence[Flag]
    params: Sequence[Param]
    topics: str
    seq: int | None
    position: Position | None = None
    lost: Lost | None = None
    changed: Changed | None = None
    confirm: Confirm | None = None
    edit: EditView | None = None

    @property
    def may_run(self) -> bool:
        """Whether the call is still to come: the question is open, or its approval waits to be carried out."""
        return self.state == "open" or (self.outcome is not None and self.outcome.state == "waiting")


def build(facts: Facts, names: Roster, reader: Reader, *, position: Position | None = None) -> RequestView:
    """The page of one request for one reader."""
    row = facts.request
    beside = (background(facts, reader), answering(facts, names, reader), aftermath(facts, names, reader))
    return RequestView(
        **{name: value for part in beside for name, value in vars(part).items()},
        id=str(row.pk),
        reference=ids.reference(row.pk),
        url=reader.request_url(row.pk),
        title=shown(facts.version.title),
        tool=shown(row.tool),
        risk=row.risk,
        version=row.version,
        versions=len(facts.versions),
        agent=agent_of(row),
        started_by=_started_by(row),
        asked_at=row.opened_at,
        deadline=row.deadline,
        run_title=shown(str(row.run["title"])) if row.run.get("title") else None,
        run_url=reader.run_url(row),
        step=step_of(row),
        state="open" if row.status == "pending" else row.status,
        flags=flags(facts, names)[:MAX_FLAGS],
        params=values.params(
            facts.version.arguments,
            facts.versions[0].arguments,
            row.definition,
            row.evidence,
            agent=queries.asked_first(row, facts.versions).arguments,
        ),
        topics=f"request:{row.pk}",
        seq=events.last_seq(row.subject) if reader.told is None else reader.told,
        position=position,
    )


def agent_of(row: ApprovalRequest) -> str:
    """The agent with its version, as people name it."""
    return f"{row.agent} v{row.agent_version}" if row.agent_version else row.agent


def _started_by(row: ApprovalRequest) -> str:
    return str(row.run.get("started_by") or row.initiator.get("name") or "")
