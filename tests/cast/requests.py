"""Calls that agents propose and the requests made of them, without any run."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from approvals import calls, policy, requests, rules
from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest
from approvals.requirements import Requirement
from tenants import exact_json, ids
from tenants.actors import worker
from tenants.locks import hold
from tenants.models import Group, GroupMember, Member, Tenant
from tenants.scope import current, scope

DECIMAL = {"type": "string", "format": "decimal", "pattern": r"^-?[0-9]{1,400}(\.[0-9]{1,400})?$"}
REFUND: dict[str, Any] = {
    "name": "refund",
    "title": "Refund",
    "summary": "Refund {amount} {currency} for order {order_id}",
    "parameters": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "amount": DECIMAL,
            "currency": {"type": "string", "enum": ["EUR", "SEK"]},
            "count": {"type": "integer", "default": 1},
            "note": {"type": "string", "default": ""},
        },
        "required": ["order_id", "amount", "currency"],
        "additionalProperties": False,
    },
    "fingerprint": "f1",
    "sensitive": [],
    "undo": "The bank can recall it for 24 hours.",
    "version": "1",
}
ARGUMENTS = {"order_id": "A-1042", "amount": "1240.00", "currency": "EUR", "count": 1, "note": ""}
WORKER = worker("host:1:main")


def a_call(*, risk: str = "high", initiators: tuple[UUID, ...] = (), **changes: Any) -> ProposedCall:
    """A refund as an agent proposes it; `arguments` may be given as values."""
    values = changes.pop("arguments", ARGUMENTS)
    definition = changes.pop("definition", REFUND)
    text = values if isinstance(values, str) else exact_json.dumps(values)
    fields: dict[str, Any] = {
        "tool": "refund",
        "tool_title": "Refund",
        "summary": calls.sentence(definition["summary"], exact_json.loads(text)),
        "tool_definition": definition,
        "agent": "refund-desk",
        "agent_version": "3",
        "risk": risk,
        "effect": "keyed",
        "proposed_arguments": text,
        "arguments": text,
        "digest": calls.digest(text),
        "rationale": "The order arrived broken.",
        "initiators": initiators,
    }
    return ProposedCall(**{**fields, **changes})


def demanded(call: ProposedCall) -> Requirement:
    """What the tenant's live rules demand of the call."""
    return policy.evaluate(call, rules.load(), now=datetime.now(UTC))


def park(tenant: Tenant, call: ProposedCall | None = None, *, subject: str = "", ref: str = "1") -> ApprovalRequest:
    """The request for a call, opened as the engine opens one."""
    wanted = call or a_call()
    about = subject or f"case:{ids.new()}"
    with scope(tenant.pk):
        hold(about)
        requirement = demanded(wanted)
        return requests.open(wanted, subject=about, ref=ref, requirement=requirement, actor=WORKER)


def fresh(request: ApprovalRequest) -> ApprovalRequest:
    """The request as it is now."""
    with scope(request.tenant_id):
        return ApprovalRequest.objects.get(pk=request.pk)


def group(tenant: Tenant, name: str, *members: Member) -> Group:
    """A group with these members."""
    with scope(tenant.pk):
        found = Group.objects.create(tenant_id=current(), name=name)
        for member in members:
            GroupMember.objects.create(tenant_id=current(), group=found, member=member)
        return found


def rule(tenant: Tenant, member: Member, name: str = "Refunds", **body: Any) -> None:
    """A live rule of the tenant."""
    with scope(tenant.pk):
        rules.create_rule(actor=WORKER, name=name, **body)


@pytest.fixture
def parked(acme: Tenant, alice: Member, bo: Member) -> ApprovalRequest:
    """A refund of high risk that waits for one of Acme's reviewers."""
    return park(acme)


@pytest.fixture
def parking(acme: Tenant) -> Callable[..., ApprovalRequest]:
    """Parks a call in Acme: `parking(a_call(risk="critical"))`."""
    return lambda call=None, **where: park(acme, call, **where)
