"""What a refused call had wanted, by the page or the address of the API that it was sent to."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from django.urls import Resolver404, resolve

from tenants import refused

API = "api/v1/"
PAGES: Mapping[str, str] = {
    "run_cancel": "run.cancelled",
    "run_pause": "run.paused",
    "run_resume": "run.resumed",
    "run_retry": "run.retried",
    "run_comment": "run.commented",
    "outcome_settle": "run.settled",
    "agent": "agent.changed",
    "agent_people": "agent.permitted",
    "agent_stop": "agent.stopped",
    "agent_start": "agent.started",
    "tool": "tool.changed",
    "bulk": "approval.decided",
    "decide": "approval.decided",
    "edit": "edit.tried",
    "viewed": "request.viewed",
    "comment": "approval.commented",
    "policy_new": "policy.created",
    "policy": "policy.changed",
    "policy_restore": "policy.changed",
    "policy_archive": "policy.archived",
    "escalations": "escalation_policy.created",
    "escalation": "escalation_policy.changed",
    "escalation_archive": "escalation_policy.archived",
    "calendars": "calendar.created",
    "calendar": "calendar.changed",
    "calendar_archive": "calendar.archived",
    "rotations": "rotation.created",
    "rotation_edit": "rotation.changed",
    "rotation_archive": "rotation.archived",
    "rotation_override": "override.created",
    "rotation_step_out": "override.withdrawn",
    "absence": "delegation.created",
    "absence_end": "delegation.withdrawn",
    "webhooks": "channel.created",
    "webhooks_test": "channel.tested",
    "webhooks_secret": "channel.secret_changed",
    "webhooks_switch": "channel.changed",
    "webhooks_remove": "channel.removed",
    "channels": "channel.created",
    "channels_test": "channel.tested",
    "channels_secret": "channel.secret_changed",
    "channels_switch": "channel.changed",
    "channels_remove": "channel.removed",
    "channel_hears": "channel.changed",
    "channel_bind": "channel.person_bound",
    "channel_release": "channel.person_released",
    "delivery_resend": "delivery.resent",
    "notices": "notices.changed",
    "notices_test": "notices.tested",
    "notices_add": "channel.own_made",
    "notices_channel_test": "channel.own_tested",
    "notices_channel_remove": "channel.own_removed",
    "organisation": "settings.changed",
    "keys": "key.created",
    "key_revoke": "key.revoked",
    "invite": "member.added",
    "member_change": "member.changed",
    "member_invite": "member.invited",
    "groups": "group.created",
    "group_add": "group.changed",
    "group_remove": "group.changed",
    "group_rename": "group.changed",
    "group_delete": "group.deleted",
}
"""Each page that takes a form, by its name, with what the form wants."""

CALLS: Mapping[str, str] = {
    "POST members": "member.added",
    "PATCH members/{}": "member.changed",
    "POST groups": "group.created",
    "PATCH groups/{}": "group.changed",
    "DELETE groups/{}": "group.deleted",
    "PUT groups/{}/members/{}": "group.changed",
    "DELETE groups/{}/members/{}": "group.changed",
    "POST keys": "key.created",
    "DELETE keys/{}": "key.revoked",
    "PATCH settings": "settings.changed",
    "POST runs": "run.started",
    "POST runs/{}/cancel": "run.cancelled",
    "POST runs/{}/pause": "run.paused",
    "POST runs/{}/resume": "run.resumed",
    "POST runs/{}/retry": "run.retried",
    "POST runs/{}/comments": "run.commented",
    "POST runs/{}/steps/{}/outcome": "run.settled",
    "PATCH agents/{}": "agent.changed",
    "PUT agents/{}/permissions/{}": "agent.permitted",
    "POST agents/{}/stop": "agent.stopped",
    "POST agents/{}/start": "agent.started",
    "PATCH tools/{}": "tool.changed",
    "POST approval-requests/{}/decisions": "approval.decided",
    "POST approval-requests/bulk-decisions": "approval.decided",
    "POST approval-requests/{}/viewed": "request.viewed",
    "POST approval-requests/{}/reassign": "approval.reassigned",
    "POST approval-requests/{}/escalate": "approval.escalated",
    "POST approval-requests/{}/comments": "approval.commented",
    "POST policies": "policy.created",
    "POST policies/trials": "policy.tried",
    "POST policies/coverage": "policy.covered",
    "PATCH policies/{}": "policy.changed",
    "DELETE policies/{}": "policy.archived",
    "POST policies/{}/publish": "policy.published",
    "POST escalation-policies": "escalation_policy.created",
    "PATCH escalation-policies/{}": "escalation_policy.changed",
    "DELETE escalation-policies/{}": "escalation_policy.archived",
    "POST delegations": "delegation.created",
    "DELETE delegations/{}": "delegation.withdrawn",
    "POST calendars": "calendar.created",
    "PATCH calendars/{}": "calendar.changed",
    "DELETE calendars/{}": "calendar.archived",
    "POST rotations": "rotation.created",
    "PATCH rotations/{}": "rotation.changed",
    "DELETE rotations/{}": "rotation.archived",
    "POST rotations/{}/overrides": "override.created",
    "DELETE rotations/{}/overrides/{}": "override.withdrawn",
    "POST webhooks": "channel.created",
    "PATCH webhooks/{}": "channel.changed",
    "DELETE webhooks/{}": "channel.removed",
    "POST webhooks/{}/secret": "channel.secret_changed",
    "POST webhooks/{}/test": "channel.tested",
    "POST channels": "channel.created",
    "PATCH channels/{}": "channel.changed",
    "DELETE channels/{}": "channel.removed",
    "POST channels/{}/secret": "channel.secret_changed",
    "POST channels/{}/test": "channel.tested",
    "POST channels/{}/people": "channel.person_bound",
    "DELETE channels/{}/people/{}": "channel.person_released",
    "POST deliveries/{}/resend": "delivery.resent",
    "PATCH notices": "notices.changed",
    "POST notices/test": "notices.tested",
    "POST notices/channels": "channel.own_made",
    "DELETE notices/channels/{}": "channel.own_removed",
    "POST notices/channels/{}/test": "channel.own_tested",
    "POST callbacks/{}/{}": "callback.received",
}
"""Each call of the API that changes something: its method and its address without what stands in for values."""


def wanted(method: str, path: str) -> str:
    """The name in `audit_words.WANTED` of what was sent there; empty for an address that takes nothing."""
    try:
        match = resolve(path)
    except Resolver404:
        return ""
    if match.route.startswith(API):
        return CALLS.get(f"{method} {plain(match.route.removeprefix(API))}", "")
    return PAGES.get(match.url_name or "", "")


def target(path: str) -> str:
    """What an address is about, as `kind:id`; empty where it names nothing."""
    try:
        names = resolve(path).kwargs
    except Resolver404:
        return ""
    called = _CALLED.search(path) if "name" in names else None
    return refused.about(names) or (f"{called[1]}:{unquote(called[2])}" if called else "")


def plain(route: str) -> str:
    """An address of the API with `{}` in each place of a value."""
    return _VALUE.sub("{}", route)


_CALLED = re.compile("/(agent|tool)s/([^/]+)")
_VALUE = re.compile(r"<[^>]*>|\{[^}]*\}")
