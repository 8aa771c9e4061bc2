"""What a page or an answer tells of runs: read with a fixed number of queries, however long a list is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Left, Length
from django.utils import timezone

from approvals.models import ApprovalRequest, Asked, RequestVersion, Review
from runs import announcing
from runs.models import AgentVersion, Attempt, Lease, Run, Step, Text, ToolDefinition
from runs.states import FINISHED, MODEL_TURN, TOOL_CALL
from tenants.models import Event, Member, ToolSetting

PREFIX = "run:"
RISKS = ("low", "medium", "high", "critical")
VOTES = ("approve", "edit")
TEXTS = ("arguments", "rationale", "result")
PAYLOAD_LIMIT = 2**30  # No text in a row is longer.


@dataclass(frozen=True, slots=True)
class Wide:
    """A wide text: all of it or its beginning, its length in characters, and where the rest lies."""

    body: str
    length: int
    payload: UUID | None = None

    @property
    def whole(self) -> bool:
        """Whether `body` is all of it."""
        return self.payload is None and len(self.body) == self.length


@dataclass(frozen=True, slots=True)
class Asking:
    """The latest approval request of a step, with the arguments of its present version.

    `proposed` is the act as the model asked for it, and `changed_by` who edited it last, also where the edit was of a
    request that this one supersedes.
    """

    id: UUID
    step: int
    status: str
    title: str
    arguments: str
    risk: str
    needed: int
    opened_at: datetime
    deadline: datetime
    decided_at: datetime | None
    decision: str
    version: int
    edited_by: str = ""
    edited_fields: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()
    asked: tuple[UUID, ...] = ()
    open_to: tuple[UUID, ...] = ()
    """Of those who are asked, the members who have not voted on the present version."""
    next_at: datetime | None = None
    """When more people are asked, if that comes before the deadline."""
    evidence: str | None = None
    """What was read for the reviewer before anybody answered, as JSON text."""
    proposed: str = ""
    changed_by: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """What a run has used so far."""

    model_turns: int = 0
    tool_calls: int = 0
    steps: int = 0
    steps_done: int = 0
    tokens: int = 0
    cost: Decimal | None = None
    worked: float = 0.0
    """Seconds of the leases that ended."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a list tells of each of its runs beside the row."""

    used: Mapping[UUID, Used]
    asking: Mapping[UUID, Sequence[Asking]]
    unknown: Mapping[UUID, Sequence[tuple[int, datetime | None]]]
    names: Mapping[UUID, str]
    texts: Mapping[tuple[UUID, str], Wide] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Detail:
    """Steps of one run with their attempts, texts, requests and the definitions of their tools."""

    run: Run
    steps: Sequence[Step]
    attempts: Mapping[int, Sequence[Attempt]]
    texts: Mapping[tuple[int, str], Wide]
    asking: Mapping[int, Asking]
    tools: Mapping[str, Mapping[str, Any]]
    risks: Mapping[str, str]
    model: str
    known: bool
    """Whether a running worker knows the run's version."""
    unheard: datetime | None
    """When one that knows it was last heard of, if it ought to have been heard of again since."""

    def text(self, seq: int, name: str) -> Wide | None:
        """The wide text of this step and name, if it has one."""
        return self.texts.get((seq, name))


def subject(run_id: UUID) -> str:
    """The subject of a run."""
    return f"{PREFIX}{run_id}"


def brief(runs: Sequence[Run], *, texts: bool = False) -> Brief:
    """What a list tells of `runs`; `texts` adds their inputs and results. The number of queries is fixed."""
    ids = [run.id for run in runs]
    asking = pending(ids)
    members = {member for run in runs for member in run.initiators}
    members |= {member for several in asking.values() for each in several for member in each.asked}
    return Brief(
        used=_used(ids),
        asking=asking,
        unknown=_unknown(ids),
        names=names(members),
        texts=_run_texts(ids) if texts else {},
    )


def names(members: Iterable[UUID]) -> dict[UUID, str]:
    """The members' names, by id."""
    found = Member.objects.filter(id__in=list(members)).select_related("person")
    return {member.id: member.name for member in found}


def steps_of(run_id: UUID, *, limit: int = PAYLOAD_LIMIT) -> "QuerySet[Step]":
    """The steps of a run in their order, their wide texts cut to `limit` characters, as `detail` wants them."""
    texts: dict[str, Any] = {}
    for name in TEXTS:
        texts |= {f"{name}_start": Left(name, limit), f"{name}_length": Length(name)}
    return Step.objects.filter(run_id=run_id).defer("proposed", *TEXTS).annotate(**texts).order_by("seq")


def detail(run: Run, steps: Sequence[Step]) -> Detail:
    """Everything about these steps, read by `steps_of`, of one run."""
    seqs = [step.seq for step in steps]
    attempts: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(run_id=run.id, seq__in=seqs).order_by("seq", "number"):
        attempts.setdefault(attempt.seq, []).append(attempt)
    version, tools, risks = definitions(run)
    until, now = version.known_until if version else None, timezone.now()
    return Detail(
        run=run,
        steps=steps,
        attempts=attempts,
        texts=_step_texts(steps),
        asking=latest(run.id),
        tools=tools,
        risks=risks,
        model=version.model if version else "",
        known=until is not None and until > now,
        unheard=announcing.unheard_since(until, now=now) if until else None,
    )


def settled(run_id: UUID) -> dict[int, Event]:
    """The last that a person stated of each call of the run whose answer never came."""
    rows = Event.objects.filter(subject=subject(run_id), name="step.settled").order_by("seq")
    return {int(row.data["step"]): row for row in rows}


def statements(run_id: UUID, seq: int) -> list[Event]:
    """All that people stated of one call whose answer never came, the oldest first."""
    rows = Event.objects.filter(subject=subject(run_id), name="step.settled", data__step=seq)
    return list(rows.order_by("seq"))


def pending(ids: Sequence[UUID]) -> dict[UUID, list[Asking]]:
    """The open requests of these runs, the oldest first, with the members who are asked."""
    wanted = ApprovalRequest.objects.filter(subject__in=[subject(each) for each in ids], status="pending")
    found: dict[UUID, list[Asking]] = {}
    for request, asking in _askings(wanted, people=False):
        found.setdefault(_run_of(request.subject), []).append(asking)
    return found


def latest(run_id: UUID) -> dict[int, Asking]:
    """The latest request of each step of a run that has one."""
    wanted = ApprovalRequest.objects.filter(subject=subject(run_id))
    return {asking.step: asking for _, asking in _askings(wanted, people=True)}


def definitions(run: Run) -> tuple[AgentVersion | None, dict[str, Mapping[str, Any]], dict[str, str]]:
    """The agent as the run pinned it, the definitions of its tools by name, and their risks as the tenant has them."""
    version = AgentVersion.objects.filter(agent=run.agent, version=run.version).first()
    if version is None:
        return None, {}, {}
    rows = ToolDefinition.objects.filter(fingerprint__in=version.tools)
    tools = {row.name: row.definition for row in rows}
    raised = dict(ToolSetting.objects.filter(tool__in=list(tools)).values_list("tool", "risk"))
    risks = {name: stricter(str(tool.get("risk", "low")), raised.get(name, "")) for name, tool in tools.items()}
    return version, tools, risks


def stricter(code: str, tenant: str) -> str:
    """The higher of the tool's own risk and the one the tenant set, which may be empty."""
    return tenant if tenant in RISKS and RISKS.index(tenant) > RISKS.index(code) else code


def run_texts(run: Run) -> dict[str, Wide]:
    """The wide texts of the run itself: input, result, error."""
    return {name: wide for (_, name), wide in _run_texts([run.id]).items()}


def _run_of(subject_: str) -> UUID:
    return UUID(subject_.removeprefix(PREFIX))


def _used(ids: Sequence[UUID]) -> dict[UUID, Used]:
    rows = (
        Step.objects.filter(run_id__in=ids)
        .values("run_id")
        .order_by()
        .annotate(
            turns=Count("seq", filter=Q(kind=MODEL_TURN)),
            calls=Count("seq", filter=Q(kind=TOOL_CALL)),
            steps=Count("seq"),
            done=Count("seq", filter=~Q(status__in=["planned", "started", "unknown"])),
            tokens=Max("tokens_total"),
            cost=Max("cost_total"),
        )
    )
    worked = dict(Lease.objects.filter(run_id__in=ids).values_list("run_id", "worked"))
    return {
        row["run_id"]: Used(
            model_turns=row["turns"],
            tool_calls=row["calls"],
            steps=row["steps"],
            steps_done=row["done"],
            tokens=row["tokens"] or 0,
            cost=row["cost"] or None,
            worked=worked.get(row["run_id"], 0.0),
        )
        for row in rows
    }


def _unknown(ids: Sequence[UUID]) -> dict[UUID, list[tuple[int, datetime | None]]]:
    found: dict[UUID, list[tuple[int, datetime | None]]] = {}
    rows = Step.objects.filter(run_id__in=ids, unknown_since__isnull=False, status="unknown")
    for run_id, seq, since in rows.order_by("run_id", "seq").values_list("run_id", "seq", "unknown_since"):
        found.setdefault(run_id, []).append((seq, since))
    return found


def _run_texts(ids: Sequence[UUID]) -> dict[tuple[UUID, str], Wide]:
    rows = Text.objects.filter(run_id__in=ids, seq=0)
    return {(row.run_id, row.name): Wide(row.body, len(row.body), row.payload) for row in rows}


def _step_texts(steps: Sequence[Step]) -> dict[tuple[int, str], Wide]:
    found = {}
    for step in steps:
        for name in TEXTS:
            body = getattr(step, f"{name}_start")
            if body is not None:
                payload = (step.payloads or {}).get(name)
                length = getattr(step, f"{name}_length")
                found[step.seq, name] = Wide(body, length, UUID(payload) if payload else None)
    return found


def _askings(wanted: "QuerySet[ApprovalRequest]", *, people: bool) -> Iterable[tuple[ApprovalRequest, Asking]]:
    requests = list(wanted.order_by("opened_at", "id"))
    ids = [request.id for request in requests]
    versions = {(each.request_id, each.number): each for each in _versions(ids)}
    asked = _asked(ids)
    votes = _votes(ids) if people else {}
    begun: dict[tuple[str, str], tuple[str, str]] = {}
    for request in requests:
        asking = _asking(
            request, versions.get((request.id, request.version)), asked.get(request.id, {}), votes.get(request.id, [])
        )
        first = versions.get((request.id, 1))
        proposed, changed_by = begun.get((request.subject, request.ref), (first.title if first else "", ""))
        begun[request.subject, request.ref] = (proposed, asking.edited_by or changed_by)
        yield request, replace(asking, proposed=proposed, changed_by=asking.edited_by or changed_by)


def _versions(ids: Sequence[UUID]) -> "QuerySet[RequestVersion]":
    return RequestVersion.objects.filter(request_id__in=ids).select_related("edited_by__person")


def _asked(ids: Sequence[UUID]) -> dict[UUID, dict[UUID, bool]]:
    """Who is asked in each request at present, and whether that member has voted on its present version."""
    votes = Review.objects.filter(
        request_id=OuterRef("request_id"),
        member_id=OuterRef("member_id"),
        version=OuterRef("request__version"),
        decision__in=VOTES,
    )
    rows = Asked.objects.filter(request_id__in=ids, until=None).annotate(voted=Exists(votes))
    found: dict[UUID, dict[UUID, bool]] = {}
    for request_id, member, voted in rows.values_list("request_id", "member_id", "voted"):
        found.setdefault(request_id, {})[member] = voted
    return found


def _votes(ids: Sequence[UUID]) -> dict[UUID, list[Review]]:
    found: dict[UUID, list[Review]] = {}
    rows = Review.objects.filter(request_id__in=ids, decision__in=VOTES)
    for review in rows.select_related("member__person").order_by("at", "id"):
        found.setdefault(review.request_id, []).append(review)
    return found


def _asking(
    request: ApprovalRequest, version: RequestVersion | None, asked: Mapping[UUID, bool], votes: Sequence[Review]
) -> Asking:
    standing = dict.fromkeys(vote.member.name for vote in votes if vote.version == request.version)
    return Asking(
        id=request.id,
        step=int(request.ref or 0),
        status=request.status,
        title=version.title if version else request.tool_title,
        arguments=version.arguments if version else request.proposed_arguments,
        risk=request.risk,
        needed=_needed(request.requirement),
        opened_at=request.opened_at,
        deadline=request.deadline,
        decided_at=request.decided_at,
        decision=request.decision,
        version=request.version,
        edited_by=version.edited_by.name if version and version.edited_by else "",
        edited_fields=tuple(version.edited_fields) if version else (),
        approvers=tuple(standing),
        asked=tuple(asked),
        open_to=tuple(member for member, voted in asked.items() if not voted),
        next_at=request.next_at if request.next_at and request.next_at < request.deadline else None,
        evidence=request.evidence,
    )


def _needed(requirement: Mapping[str, Any]) -> int:
    return max((int(each.get("approvals", 1)) for each in requirement.get("demands", [])), default=1)


def is_finished(run: Run) -> bool:
    """Whether the run has come to its end."""
    return run.status in FINISHED
