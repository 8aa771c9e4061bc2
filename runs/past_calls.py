"""The real calls of past runs, for a draft rule to be tried on; also those that nobody was asked about."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals import calls, fitting, trials
from approvals.calls import ProposedCall
from approvals.trials import PastCall
from runs import programs
from runs.models import AgentVersion, Run, Step, ToolDefinition
from runs.states import TOOL_CALL
from runs.telling import stricter
from tenants import exact_json
from tenants.models import Event, ToolSetting

Place = tuple[UUID, int]
Definitions = Mapping[tuple[str, str, str], Mapping[str, Any]]


def connect() -> None:
    """Let trials try these calls, and rules be checked against the tools that were announced."""
    trials.SOURCES.append(past_calls)
    fitting.TOOLS.append(programs.schemas)


def past_calls(since: datetime, most: int) -> Iterable[PastCall]:
    """The newest valid tool calls of the tenant's runs, at most `most`; six queries whatever their number."""
    planned = _planned(since, most)
    steps = Step.objects.filter(run_id__in={run for run, _seq in planned}, kind=TOOL_CALL, arguments__isnull=False)
    found = [step for step in steps if (step.run_id, step.seq) in planned]
    runs = {run.pk: run for run in Run.objects.filter(pk__in={step.run_id for step in found})}
    definitions = _definitions(runs.values())
    risks = dict(ToolSetting.objects.exclude(risk="").values_list("tool", "risk"))
    for step in found:
        run = runs[step.run_id]
        definition = definitions.get((run.agent, run.version, step.tool))
        if definition is not None:
            call = _call(run, step, definition, risks.get(step.tool, ""))
            yield PastCall(call, planned[run.pk, step.seq], f"run:{run.pk}", str(step.seq), step.status)


def _planned(since: datetime, most: int) -> dict[Place, datetime]:
    """When each step was planned, by run and number."""
    rows = Event.objects.filter(at__gte=since, name="step.planned", subject__startswith="run:", data__has_key="step")
    newest = rows.order_by("-at").values_list("subject", "data", "at")[:most]
    return {(UUID(subject.removeprefix("run:")), int(data["step"])): at for subject, data, at in newest}


def _definitions(runs: Iterable[Run]) -> Definitions:
    """The tools' definitions of the versions these runs pinned, by agent, version and tool."""
    wanted = {(run.agent, run.version) for run in runs}
    versions = AgentVersion.objects.filter(agent__in={agent for agent, _version in wanted})
    pinned = [each for each in versions if (each.agent, each.version) in wanted]
    marks = {mark for each in pinned for mark in each.tools}
    tools = {row.fingerprint: row for row in ToolDefinition.objects.filter(fingerprint__in=marks)}
    return {
        (each.agent, each.version, tools[mark].name): tools[mark].definition
        for each in pinned
        for mark in each.tools
        if mark in tools
    }


def _call(run: Run, step: Step, definition: Mapping[str, Any], own_risk: str) -> ProposedCall:
    text = str(step.arguments)
    return ProposedCall(
        tool=step.tool,
        tool_title=str(definition.get("title") or step.tool),
        summary=_summary(definition, text),
        agent=run.agent,
        agent_version=run.version,
        risk=stricter(str(definition.get("risk") or "low"), own_risk),
        effect=step.effect,
        arguments=text,
        digest=step.digest,
        tool_definition=definition,
        initiators=tuple(run.initiators),
        initiator=dict(run.started_by),
        labels=dict(run.labels),
        run={"id": str(run.pk), "title": run.title, "step": step.seq, "agent": run.agent},
    )


def _summary(definition: Mapping[str, Any], text: str) -> str:
    """The act as a sentence; of a call too large to be kept in its row, the tool's title."""
    title = str(definition.get("title") or definition.get("name") or "")
    try:
        values = exact_json.loads(text)
    except exact_json.BadJson:
        return title
    if not isinstance(values, Mapping):
        return title
    return calls.sentence(str(definition.get("summary") or title), values, sensitive=definition.get("sensitive") or ())
