"""What can be done, in words: as the audit tells it of somebody who did it, and of somebody who wanted to."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from approvals.pages import audit_tries
from approvals.pages.audit_reasons import CALLBACKS, NO_CODE, REASONS

DONE: Mapping[str, str | Promise] = {
    "agent.changed": gettext_lazy("changed the agent"),
    "agent.permitted": gettext_lazy("set who may do what with the agent"),
    "approval.commented": gettext_lazy("commented on"),
    "approval.decided": gettext_lazy("answered"),
    "approval.escalated": gettext_lazy("asked the next level about"),
    "approval.reassigned": gettext_lazy("let another member answer"),
    "calendar.archived": gettext_lazy("archived the calendar"),
    "calendar.changed": gettext_lazy("changed the calendar"),
    "calendar.created": gettext_lazy("made the calendar"),
    "callback.received": gettext_lazy("answered from the chat channel"),
    "callback.refused": gettext_lazy("knocked at the chat channel"),
    "channel.changed": gettext_lazy("changed the channel"),
    "channel.created": gettext_lazy("made the channel"),
    "channel.person_bound": gettext_lazy("said who of a chat service is"),
    "channel.person_released": gettext_lazy("took out of a chat channel"),
    "channel.removed": gettext_lazy("removed the channel"),
    "channel.secret_changed": gettext_lazy("changed the secret of the channel"),
    "channel.switched_off": gettext_lazy("switched off the channel, which kept failing:"),
    "channel.tested": gettext_lazy("tried the channel"),
    "delegation.created": gettext_lazy("let somebody stand in"),
    "delegation.withdrawn": gettext_lazy("ended a stand-in"),
    "delivery.resent": gettext_lazy("sent a delivery once more"),
    "escalation_policy.archived": gettext_lazy("archived the escalation policy"),
    "escalation_policy.changed": gettext_lazy("changed the escalation policy"),
    "escalation_policy.created": gettext_lazy("made the escalation policy"),
    "group.changed": gettext_lazy("changed the group"),
    "group.created": gettext_lazy("made the group"),
    "group.deleted": gettext_lazy("deleted the group"),
    "key.created": gettext_lazy("made the key"),
    "key.revoked": gettext_lazy("ended the key"),
    "member.added": gettext_lazy("made a member of"),
    "member.changed": gettext_lazy("changed the member"),
    "notices.changed": gettext_lazy("changed the notices of"),
    "notices.tested": gettext_lazy("tried the mail of"),
    "override.created": gettext_lazy("let somebody step in for the rotation"),
    "override.withdrawn": gettext_lazy("ended a stepping in for the rotation"),
    "person.sign_in_failed": gettext_lazy("a sign-in failed for"),
    "person.signed_in": gettext_lazy("signed in"),
    "policy.archived": gettext_lazy("took out of force the rule"),
    "policy.changed": gettext_lazy("changed the rule"),
    "policy.created": gettext_lazy("made the rule"),
    "policy.published": gettext_lazy("made live the rule"),
    "request.refused": gettext_lazy("asked for what was refused:"),
    "rotation.archived": gettext_lazy("archived the rotation"),
    "rotation.changed": gettext_lazy("changed the rotation"),
    "rotation.created": gettext_lazy("made the rotation"),
    "run.cancelled": gettext_lazy("stopped the run"),
    "run.commented": gettext_lazy("commented on the run"),
    "run.paused": gettext_lazy("paused the run"),
    "run.resumed": gettext_lazy("resumed the run"),
    "run.retried": gettext_lazy("retried the run"),
    "run.settled": gettext_lazy("settled an outcome of the run"),
    "run.started": gettext_lazy("started the run"),
    "runs.purged": gettext_lazy("deleted runs past their time"),
    "settings.changed": gettext_lazy("changed the settings"),
    "tenant.created": gettext_lazy("founded the organisation"),
    "tool.changed": gettext_lazy("changed the tool"),
}
"""Each verb of the audit before what it was done to."""

WANTED: Mapping[str, str | Promise] = {
    "agent.changed": pgettext_lazy("wanted", "change the agent"),
    "agent.permitted": pgettext_lazy("wanted", "set who may do what with the agent"),
    "approval.commented": pgettext_lazy("wanted", "comment on"),
    "approval.decided": pgettext_lazy("wanted", "answer"),
    "approval.escalated": pgettext_lazy("wanted", "ask the next level about"),
    "approval.reassigned": pgettext_lazy("wanted", "let another member answer"),
    "calendar.archived": pgettext_lazy("wanted", "archive the calendar"),
    "calendar.changed": pgettext_lazy("wanted", "change the calendar"),
    "calendar.created": pgettext_lazy("wanted", "make a calendar"),
    "callback.received": pgettext_lazy("wanted", "answer from the chat channel"),
    "callback.refused": pgettext_lazy("wanted", "answer from the chat channel"),
    "channel.changed": pgettext_lazy("wanted", "change the channel"),
    "channel.created": pgettext_lazy("wanted", "make a channel"),
    "channel.person_bound": pgettext_lazy("wanted", "say who a person of the chat channel is"),
    "channel.person_released": pgettext_lazy("wanted", "take a person out of the chat channel"),
    "channel.removed": pgettext_lazy("wanted", "remove the channel"),
    "channel.secret_changed": pgettext_lazy("wanted", "change the secret of the channel"),
    "channel.switched_off": pgettext_lazy("wanted", "switch off the channel"),
    "channel.tested": pgettext_lazy("wanted", "try the channel"),
    "delegation.created": pgettext_lazy("wanted", "let somebody stand in"),
    "delegation.withdrawn": pgettext_lazy("wanted", "end a stand-in"),
    "delivery.resent": pgettext_lazy("wanted", "send a delivery once more"),
    "escalation_policy.archived": pgettext_lazy("wanted", "archive the escalation policy"),
    "escalation_policy.changed": pgettext_lazy("wanted", "change the escalation policy"),
    "escalation_policy.created": pgettext_lazy("wanted", "make an escalation policy"),
    "group.changed": pgettext_lazy("wanted", "change the group"),
    "group.created": pgettext_lazy("wanted", "make a group"),
    "group.deleted": pgettext_lazy("wanted", "delete the group"),
    "key.created": pgettext_lazy("wanted", "make a key"),
    "key.revoked": pgettext_lazy("wanted", "end the key"),
    "member.added": pgettext_lazy("wanted", "add a member"),
    "member.changed": pgettext_lazy("wanted", "change the member"),
    "notices.changed": pgettext_lazy("wanted", "change their notices"),
    "notices.tested": pgettext_lazy("wanted", "try their mail"),
    "override.created": pgettext_lazy("wanted", "let somebody step in for the rotation"),
    "override.withdrawn": pgettext_lazy("wanted", "end a stepping in for the rotation"),
    "person.signed_in": pgettext_lazy("wanted", "sign in"),
    "policy.archived": pgettext_lazy("wanted", "take out of force the rule"),
    "policy.changed": pgettext_lazy("wanted", "change the rule"),
    "policy.created": pgettext_lazy("wanted", "make a rule"),
    "policy.published": pgettext_lazy("wanted", "make live the rule"),
    "rotation.archived": pgettext_lazy("wanted", "archive the rotation"),
    "rotation.changed": pgettext_lazy("wanted", "change the rotation"),
    "rotation.created": pgettext_lazy("wanted", "make a rotation"),
    "run.cancelled": pgettext_lazy("wanted", "stop the run"),
    "run.commented": pgettext_lazy("wanted", "comment on the run"),
    "run.paused": pgettext_lazy("wanted", "pause the run"),
    "run.resumed": pgettext_lazy("wanted", "resume the run"),
    "run.retried": pgettext_lazy("wanted", "retry the run"),
    "run.settled": pgettext_lazy("wanted", "settle an outcome of the run"),
    "run.started": pgettext_lazy("wanted", "start a run"),
    "runs.purged": pgettext_lazy("wanted", "delete runs past their time"),
    "settings.changed": pgettext_lazy("wanted", "change the settings"),
    "tenant.created": pgettext_lazy("wanted", "found the organisation"),
    "tool.changed": pgettext_lazy("wanted", "change the tool"),
    "request.viewed": pgettext_lazy("wanted", "say that they look at"),
    "policy.tried": pgettext_lazy("wanted", "try a draft of a rule"),
    "policy.covered": pgettext_lazy("wanted", "see who could answer a draft of a rule"),
    "agent.stopped": pgettext_lazy("wanted", "stop the agent"),
    "agent.started": pgettext_lazy("wanted", "let the agent start runs again"),
    "channel.own_made": pgettext_lazy("wanted", "add a chat channel of their own"),
    "channel.own_removed": pgettext_lazy("wanted", "remove a chat channel of their own"),
    "channel.own_tested": pgettext_lazy("wanted", "try a chat channel of their own"),
    "member.invited": pgettext_lazy("wanted", "invite a member again"),
    "edit.tried": pgettext_lazy("wanted", "see what an edit would change in"),
    "answer.approve": pgettext_lazy("wanted", "approve"),
    "answer.edit": pgettext_lazy("wanted", "edit and approve"),
    "answer.reject": pgettext_lazy("wanted", "reject"),
    "answer.respond": pgettext_lazy("wanted", "answer in place of the tool"),
}
"""What somebody wanted who was refused; some of it leaves no entry of its own when it is done."""

DECISIONS: Mapping[str, str | Promise] = {
    "approve": gettext_lazy("approved"),
    "edit": gettext_lazy("edited and approved"),
    "reject": gettext_lazy("rejected"),
    "respond": gettext_lazy("answered in place of the tool"),
}
AGENTS: Mapping[tuple[str, bool], str | Promise] = {
    ("enabled", True): gettext_lazy("switched on the agent"),
    ("enabled", False): gettext_lazy("switched off the agent"),
    ("stopped", True): gettext_lazy("stopped the agent"),
    ("stopped", False): gettext_lazy("let runs start again of the agent"),
    ("restricted", True): gettext_lazy("restricted the agent"),
    ("restricted", False): gettext_lazy("opened to every role the agent"),
}
SETTLED: Mapping[str, str | Promise] = {
    "completed": gettext_lazy("settled as done step %(step)s of the run"),
    "not_done": gettext_lazy("settled as not done step %(step)s of the run"),
    "do_again": gettext_lazy("let be done again step %(step)s of the run"),
}


def done(action: str, detail: Mapping[str, Any]) -> str:
    """What was done, as exactly as the entry's detail tells."""
    closer: str | Promise | None = None
    if action == "approval.decided":
        closer = DECISIONS.get(str(detail.get("decision")))
    elif action == "agent.changed" and len(detail) == 1:
        closer = AGENTS.get(next(iter(detail.items())))
    elif action == "run.settled":
        settled = SETTLED.get(str(detail.get("outcome")))
        closer = settled and str(settled) % {"step": detail.get("step", "?")}
    elif action == "tool.changed":
        closer = _tool(detail)
    elif action == "policy.archived" and detail.get("draft"):
        closer = gettext_lazy("discarded the draft of the rule")
    return str(closer or DONE.get(action, action))


def _tool(detail: Mapping[str, Any]) -> str | Promise | None:
    before, after = detail.get("before"), detail.get("after")
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)) or before == after:
        return None
    if before.get("enabled") == after.get("enabled"):
        return _("set the risk of the tool")
    return _("switched on the tool") if after.get("enabled") else _("switched off the tool")


def wanted(action: str, detail: Mapping[str, Any]) -> str:
    """What somebody had wanted who was refused; empty where only the address tells."""
    if action == "request.refused":
        action = audit_tries.wanted(str(detail.get("method", "")), str(detail.get("path", "")))
    elif action == "approval.decided":
        answer = f"answer.{'reject' if detail.get('decision') == 'deny' else detail.get('decision')}"
        action = answer if answer in WANTED else action
    return _("wanted to %(act)s") % {"act": WANTED[action]} if action in WANTED else ""


def because(action: str, detail: Mapping[str, Any]) -> str:
    """Why it was refused, as far as the entry tells."""
    if action == "callback.refused":
        return str(CALLBACKS.get(str(detail.get("why")), ""))
    code = str(detail.get("code", ""))
    usual = NO_CODE.get(detail.get("status", 0), "")
    return str(REASONS.get(code) or usual or code)
