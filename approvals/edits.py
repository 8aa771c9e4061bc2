"""What an edit would make of a request: the arguments of the next version, and what the rules demand of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from approvals import arguments as bound
from approvals import errors, frozen, policy, rules
from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest, RequestVersion
from approvals.requirements import Requirement
from tenants.refusals import Refusal


@dataclass(frozen=True)
class Proposal:
    """An edit that can be taken: the call it makes, which parameters it changes, and what is then demanded."""

    call: ProposedCall
    fields: Sequence[str]
    requirement: Requirement


def proposed(
    request: ApprovalRequest, version: RequestVersion, need: Requirement, arguments: Any, *, now: datetime
) -> Proposal | Refusal:
    """The next version of the edited arguments, under the stricter of the old and the new rules; writes nothing."""
    text, wrong = bound.edited(arguments, request.definition, before=version.arguments)
    if wrong:
        return errors.fields(wrong, code="invalid_arguments")
    changed = bound.changed_fields(version.arguments, text)
    if not changed:
        message = _("Nothing was changed. To agree as it is, choose Approve.")
        return errors.field("arguments", message, code="nothing_changed")
    call = frozen.edited(request, version, text)
    new = policy.evaluate(call, rules.load(), now=now)
    if new.outcome == "deny":
        return errors.field("arguments", _("The rules refuse this call with these values."), code="rules_deny")
    return Proposal(call, changed, need.join(new))
