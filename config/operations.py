"""Who may call each operation of the API and what it answers: what the description of each ends with.

What it does is said by the docstring of its function, and its name by the `summary` of its route.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """The scope its key needs and the roles of which the key's owner needs one; who else or not; what it answers."""

    scope: str
    answers: str
    roles: tuple[str, ...] = ()
    who: str = ""

    @property
    def told(self) -> str:
        """Two sentences or three, for the document."""
        needs = f"Needs a key with the scope `{self.scope}`" if self.scope else "Needs no key"
        roles = " or ".join(self.roles)
        of = f", of {'an' if roles[0] in 'aeiou' else 'a'} {roles}" if roles else ""
        return " ".join(each for each in (f"{needs}{of}.", self.who, f"Answers {self.answers}.") if each)


NOTHING = "204, without a body"
FILE = "a file, streamed as it is read"
ADMIN, MANAGER, EITHER = ("admin",), ("manager",), ("admin", "manager")
READERS = "Whoever may read the run: its initiators, managers, and reviewers of its requests."
OPERATORS = "Only of a manager who may operate the agent."
STOPPERS = "Of a manager, or of whoever started the run."
ASKED = "Whoever may read the request: reviewers, managers and whoever was asked."
ONESELF = "Each for themselves alone."


def _reads(answers: str, roles: tuple[str, ...] = (), who: str = "") -> Operation:
    return Operation("settings:read", answers, roles, who)


def _writes(answers: str, roles: tuple[str, ...] = ADMIN, who: str = "") -> Operation:
    return Operation("settings:write", answers, roles, who)


def _operates(answers: str = "the run", who: str = OPERATORS) -> Operation:
    return Operation("runs:operate", answers, who=who)


OPERATIONS: Mapping[str, Operation] = {
    "GET /members": _reads("a page of members"),
    "POST /members": _writes("the member"),
    "GET /members/{member_id}": _reads("the member"),
    "PATCH /members/{member_id}": _writes("the member as changed"),
    "GET /groups": _reads("a page of groups, each with its members"),
    "POST /groups": _writes("the group"),
    "GET /groups/{group_id}": _reads("the group with its members"),
    "PATCH /groups/{group_id}": _writes("the group as changed"),
    "DELETE /groups/{group_id}": _writes(NOTHING),
    "PUT /groups/{group_id}/members/{member_id}": _writes(NOTHING),
    "DELETE /groups/{group_id}/members/{member_id}": _writes(NOTHING),
    "GET /keys": _reads("a page of keys"),
    "POST /keys": _writes("the key, with its text this once"),
    "DELETE /keys/{key_id}": _writes(NOTHING),
    "GET /settings": _reads("the settings of the tenant"),
    "PATCH /settings": _writes("the settings as changed"),
    "GET /exports/audit": Operation("audit:read", FILE, ADMIN),
    "GET /runs": Operation("runs:read", "a page of runs", who=READERS),
    "POST /runs": Operation("runs:start", "the run, queued", who="Any member, of an agent that is switched on."),
    "GET /runs/{run_id}": Operation("runs:read", "the run with what it waits for", who=READERS),
    "GET /runs/{run_id}/steps": Operation("runs:read", "a page of steps", who=READERS),
    "GET /payloads/{payload_id}": Operation("runs:read", "the value itself", who=READERS),
    "POST /runs/{run_id}/cancel": _operates("the run, cancelled", STOPPERS),
    "POST /runs/{run_id}/pause": _operates(),
    "POST /runs/{run_id}/resume": _operates(),
    "POST /runs/{run_id}/retry": _operates("the run, queued"),
    "POST /runs/{run_id}/comments": _operates(who=READERS),
    "POST /runs/{run_id}/steps/{seq}/outcome": _operates(),
    "GET /runs/{run_id}/events": Operation("runs:read", "a page of events, empty where none came in time", who=READERS),
    "GET /exports/events": Operation("audit:read", FILE, ADMIN),
    "GET /agents": _reads("a page of agents"),
    "GET /agents/{name}": _reads("the agent with its tools"),
    "PATCH /agents/{name}": _writes("the agent as switched"),
    "GET /agents/{name}/permissions": _reads("every reviewer and manager with their permissions", ADMIN),
    "PUT /agents/{name}/permissions/{member}": _writes("the member with their permissions"),
    "POST /agents/{name}/stop": Operation("runs:operate", "the agent, stopped", MANAGER),
    "POST /agents/{name}/start": Operation("runs:operate", "the agent, started", MANAGER),
    "GET /tools": _reads("a page of tools"),
    "GET /tools/{name}": _reads("the tool with its parameters"),
    "PATCH /tools/{name}": _writes("the tool as switched"),
    "GET /runs/{run_id}/proof": Operation("runs:read", FILE, who=READERS),
    "GET /approval-requests": Operation("approvals:read", "a page of requests", who=ASKED),
    "GET /approval-requests/{request_id}": Operation("approvals:read", "the request", who=ASKED),
    "POST /approval-requests/{request_id}/decisions": Operation(
        "approvals:decide", "the request and your review", who="Only who may decide it now."
    ),
    "POST /approval-requests/bulk-decisions": Operation(
        "approvals:decide", "one result an item, in their order", who="Each item only of who may decide it now."
    ),
    "POST /approval-requests/{request_id}/viewed": Operation("approvals:read", NOTHING, who=ASKED),
    "POST /approval-requests/{request_id}/reassign": Operation("approvals:decide", "the request", MANAGER),
    "POST /approval-requests/{request_id}/escalate": Operation("approvals:decide", "the request", MANAGER),
    "GET /approval-requests/{request_id}/comments": Operation("approvals:read", "the comments", who=ASKED),
    "POST /approval-requests/{request_id}/comments": Operation("approvals:read", "the comment", who=ASKED),
    "GET /exports/requests": Operation("audit:read", FILE, ADMIN),
    "GET /policies": _reads("every rule"),
    "POST /policies": _writes("the rule with its version and warnings"),
    "POST /policies/trials": _reads("the counts, with examples of what would change", ADMIN),
    "POST /policies/coverage": _reads("the gaps, with how many could answer", ADMIN),
    "GET /policies/{rule_id}/coverage": _reads("the gaps, with how many could answer", ADMIN),
    "GET /policies/{rule_id}": _reads("the rule"),
    "PATCH /policies/{rule_id}": _writes("the rule with its new version and warnings"),
    "DELETE /policies/{rule_id}": _writes(NOTHING),
    "GET /policies/{rule_id}/versions": _reads("its versions"),
    "POST /policies/{rule_id}/publish": _writes("the rule with what is live now"),
    "GET /escalation-policies": _reads("every escalation policy"),
    "POST /escalation-policies": _writes("the escalation policy"),
    "GET /escalation-policies/{policy_id}": _reads("the escalation policy"),
    "PATCH /escalation-policies/{policy_id}": _writes("the escalation policy as changed"),
    "DELETE /escalation-policies/{policy_id}": _writes(NOTHING),
    "GET /delegations": Operation("approvals:read", "the delegations"),
    "POST /delegations": Operation("approvals:decide", "the delegation"),
    "DELETE /delegations/{delegation_id}": Operation(
        "approvals:decide", NOTHING, who="Of the absent member, or of an admin."
    ),
    "GET /calendars": _reads("every calendar"),
    "POST /calendars": _writes("the calendar"),
    "GET /calendars/{calendar_id}": _reads("the calendar"),
    "PATCH /calendars/{calendar_id}": _writes("the calendar as changed"),
    "DELETE /calendars/{calendar_id}": _writes(NOTHING),
    "GET /rotations": _reads("every rotation"),
    "POST /rotations": _writes("the rotation"),
    "GET /rotations/{rotation_id}": _reads("the rotation"),
    "PATCH /rotations/{rotation_id}": _writes("the rotation as changed"),
    "DELETE /rotations/{rotation_id}": _writes(NOTHING),
    "GET /rotations/{rotation_id}/turns": _reads("the turns"),
    "POST /rotations/{rotation_id}/overrides": _writes("the override", EITHER),
    "DELETE /rotations/{rotation_id}/overrides/{override_id}": _writes(NOTHING, EITHER),
    "GET /webhooks": _reads("every webhook, without its secret", ADMIN),
    "POST /webhooks": _writes("the webhook with its secret"),
    "GET /webhooks/{webhook_id}": _reads("the webhook, without its secret", ADMIN),
    "PATCH /webhooks/{webhook_id}": _writes("the webhook as changed"),
    "DELETE /webhooks/{webhook_id}": _writes(NOTHING),
    "POST /webhooks/{webhook_id}/secret": _writes("the webhook with its new secret, this once"),
    "POST /webhooks/{webhook_id}/test": _writes("the delivery"),
    "GET /channels": _reads("every chat channel, without its secret", ADMIN),
    "POST /channels": _writes("the chat channel with its secret"),
    "GET /channels/{name}": _reads("the chat channel with its people", ADMIN),
    "PATCH /channels/{name}": _writes("the chat channel as changed"),
    "DELETE /channels/{name}": _writes(NOTHING),
    "POST /channels/{name}/secret": _writes("the chat channel with its new secret, this once"),
    "POST /channels/{name}/test": _writes("the delivery"),
    "POST /channels/{name}/people": _writes("the person"),
    "DELETE /channels/{name}/people/{person_id}": _writes(NOTHING),
    "GET /deliveries": _reads("a page of deliveries", ADMIN),
    "POST /deliveries/{delivery_id}/resend": _writes("the new delivery"),
    "GET /notices": Operation("approvals:read", "your wishes", who=ONESELF),
    "PATCH /notices": Operation("approvals:decide", "your wishes as changed", who=ONESELF),
    "POST /notices/test": Operation("approvals:decide", "the delivery", who=ONESELF),
    "GET /notices/channels": Operation("approvals:read", "your channels", who=ONESELF),
    "POST /notices/channels": Operation("approvals:decide", "the channel", who=ONESELF),
    "DELETE /notices/channels/{channel_id}": Operation("approvals:decide", NOTHING, who=ONESELF),
    "POST /notices/channels/{channel_id}/test": Operation("approvals:decide", "the delivery", who=ONESELF),
    "POST /callbacks/{tenant}/{channel}": Operation(
        "",
        "the request’s state and the review",
        who="Whoever signs with the channel’s secret, for a person bound to it.",
    ),
}


def told(method: str, path: str) -> str:
    """What the description of an operation ends with. KeyError where nobody has written it."""
    return OPERATIONS[f"{method.upper()} {path}"].told
