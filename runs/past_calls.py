"""The calls of past runs as a trial of rules reads them: those that ran unasked, and those that were refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max, Q

from approvals import calls, fitting, rule_warnings, trials
from approvals.calls import ProposedCall
from approvals.trials import PastCall
from runs import askings, payloads, programs, states
from runs.models import AgentVersion, Attempt, Run, Step, ToolDefinition
from runs.tools import Risk
from tenants import exact_json
from tenants.models import ToolSetting
from tenants.scope import current

BATCH = 200
EARLIER = timedelta(days=30)
"""How long before the asked-for time a run may have begun whose calls are still looked for."""


@dataclass(frozen=True)
class _Known:
    """What is read once for all calls: the tools of each agent version, and the risks the tenant has set."""

    tools: Mapping[tuple[str, str, str], Mapping[str, Any]]
    risks: Mapping[str, str]


def connect() -> None:
    """Let trials find these calls, and rules be checked against the tools that were announced."""
    trials.SOURCES.append(since)
    fitting.TOOLS.append(programs.schemas)
    rule_warnings.AGENTS.append(programs.agent_names)


def since(start: datetime, most: int) -> Iterator[PastCall]:
    """At most `most` valid calls planned at or after `start`, of the tenant in scope, newest runs first.

    A call's time is the end of the model turn that asked for it, when the rules judged it. Runs are read by keyset
    over their beginning. Calls of unknown tools or with invalid arguments are none that a rule could have judged.
    """
    known, left = _known(), most
    for batch in _runs(start - EARLIER):
        steps = _steps(batch, left)
        times = _times(batch, steps)
        for step in steps:
            run = batch[step.run_id]
            at = times.get((step.run_id, step.turn), run.created_at)
            call = _call(run, step, known) if at >= start else None
            if call is not None:
                left -= 1
                yield PastCall(call, at, askings.subject(run.pk), str(step.seq), _came_of(step))
        if left <= 0:
            return


def _runs(begun: datetime) -> Iterator[dict[UUID, Run]]:
    last: Run | None = None
    while True:
        rows = Run.objects.filter(created_at__gte=begun)
        if last is not None:
            rows = rows.filter(Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, pk__lt=last.pk))
        found = list(rows.order_by("-created_at", "-id")[:BATCH])
        if found:
            yield {run.pk: run for run in found}
        if len(found) < BATCH:
            return
        last = found[-1]


def _steps(batch: Mapping[UUID, Run], most: int) -> list[Step]:
    rows = Step.objects.filter(run_id__in=list(batch), kind=states.TOOL_CALL, arguments__isnull=False)
    return list(rows.exclude(reason="invalid").defer("result", "proposed").order_by("-seq")[:most])


def _times(batch: Mapping[UUID, Run], steps: Sequence[Step]) -> dict[tuple[UUID, int], datetime]:
    turns = {step.turn for step in steps}
    rows = Attempt.objects.filter(run_id__in=list(batch), seq__in=turns, closed_at__isnull=False)
    ends = rows.values_list("run_id", "seq").annotate(end=Max("closed_at"))
    return {(run, seq): end for run, seq, end in ends}


def _known() -> _Known:
    definitions = {each.fingerprint: each for each in ToolDefinition.objects.all()}
    versions = AgentVersion.objects.values_list("agent", "version", "tools")
    return _Known(
        tools={
            (agent, version, definitions[key].name): definitions[key].definition
            for agent, version, keys in versions
            for key in keys
            if key in definitions
        },
        risks=dict(ToolSetting.objects.exclude(risk=None).exclude(risk="").values_list("tool", "risk")),
    )


def _call(run: Run, step: Step, known: _Known) -> ProposedCall | None:
    """The call as the rules read it then, under the risk it has now; None where it can no longer be read whole."""
    definition = known.tools.get((run.agent, run.version, step.tool))
    arguments = _arguments(step)
    if definition is None or arguments is None:
        return None
    values, sensitive = exact_json.loads(arguments), tuple(definition.get("sensitive") or ())
    return ProposedCall(
        tool=step.tool,
        tool_title=str(definition.get("title", "")),
        summary=calls.sentence(str(definition.get("summary", "")), values, sensitive=sensitive),
        tool_definition=definition,
        agent=run.agent,
        agent_version=run.version,
        risk=Risk(definition["risk"]).at_least(known.risks.get(step.tool)).value,
        effect=step.effect,
        arguments=arguments,
        digest=step.digest,
        rationale=step.rationale or "",
        initiators=tuple(run.initiators),
        initiator=dict(run.started_by),
        labels=dict(run.labels),
        run={"id": str(run.pk), "title": run.title, "step": step.seq, "agent": run.agent},
    )


def _arguments(step: Step) -> str | None:
    stored = (step.payloads or {}).get("arguments")
    if stored is None:
        return step.arguments
    try:
        return payloads.read(UUID(str(stored)), tenant=current()).decode()
    except payloads.Missing:
        return None


def _came_of(step: Step) -> str:
    return step.reason if step.status == "declined" and step.reason else step.status
