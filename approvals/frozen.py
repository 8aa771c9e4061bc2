"""The call of a request as it was frozen, with the arguments of one of its versions."""

from uuid import UUID

from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest, RequestVersion


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
