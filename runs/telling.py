"""What a page or an answer tells of runs: read with a fixed number of queries, however long a list is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Left, Length
from django.utils import timezone

from runs import announcing, askings
from runs.askings import Asking, subject
from runs.models import AgentVersion, Attempt, Lease, Run, Step, Text, ToolDefinition
from runs.states import FINISHED, MODEL_TURN, TOOL_CALL
from tenants.models import Event, Member, ToolSetting

RISKS = ("low", "medium", "high", "critical")
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


def brief(runs: Sequence[Run], *, texts: bool = False) -> Brief:
    """What a list tells of `runs`; `texts` adds their inputs and results. The number of queries is fixed."""
    ids = [run.id for run in runs]
    asking = askings.pending(ids)
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
        asking=askings.latest(run.id),
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


def is_finished(run: Run) -> bool:
    """Whether the run has come to its end."""
    return run.status in FINISHED
