"""The call of a request as it was frozen, with the arguments of one of its versions."""

from dataclasses import replace
from uuid import UUID

from approvals import calls
from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest, RequestVersion
from tenants import exact_json


def call_of(request: ApprovalRequest, version: RequestVersion) -> ProposedCall:
    """What would run if this version of the request were approved."""
    return ProposedCall(
        tool=request.tool,
        tool_title=request.tool_title,
        summary=version.title,
        tool_definition=request.definition,
        agent=request.agent,
        agent_version=request.agent_version,
        risk=request.risk,
        effect=request.effect,
        proposed_arguments=request.proposed_arguments,
        arguments=version.arguments,
        digest=version.digest,
        rationale=request.rationale,
        initiators=tuple(UUID(str(each)) for each in request.initiators),
        initiator=request.initiator,
        labels=request.labels,
        run=request.run,
        evidence=request.evidence,
        evidence_error=request.evidence_error,
        precondition=request.precondition,
    )


def edited(request: ApprovalRequest, version: RequestVersion, arguments: str) -> ProposedCall:
    """What would run if `version` were edited to these bound arguments; its sentence and digest follow them."""
    call = call_of(request, version)
    template = str(request.definition.get("summary") or "")
    values = dict(exact_json.loads(arguments))
    summary = calls.sentence(template, values, sensitive=call.sensitive) if template else version.title
    digest = calls.digest(arguments, sensitive=call.sensitive)
    return replace(call, arguments=arguments, digest=digest, summary=summary)
