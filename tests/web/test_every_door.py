"""Every role × every door × whose request: one guard answers for all of them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from standardwebhooks import Webhook

from approvals import channel_people, channels
from approvals.models import ApprovalRequest
from approvals.notifications import links
from tenants import exact_json, ids
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key, actor, make_member
from tests.cast.requests import a_call, fresh, park

Door = Callable[[ApprovalRequest, Member, Key, Key], int]
DOORS = ("page", "api", "bulk", "link", "callback", "service key")


def browser(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def through_page(request: ApprovalRequest, member: Member, _key: Key, _service: Key) -> int:
    url = f"/t/{member.tenant.slug}/requests/{request.pk}/decide/"
    return browser(member).post(url, {"decision": "approve", "version": "1"}).status_code


def through_api(request: ApprovalRequest, _member: Member, key: Key, _service: Key) -> int:
    return _post(f"/{request.pk}/decisions", {"decision": "approve", "version": 1}, key).status_code


def through_bulk(request: ApprovalRequest, _member: Member, key: Key, _service: Key) -> int:
    body = {"items": [{"id": str(request.pk), "version": 1, "decision": "approve"}]}
    status: int = exact_json.loads(_post("/bulk-decisions", body, key).content)["results"][0]["status"]
    return status


def through_link(request: ApprovalRequest, member: Member, key: Key, service: Key) -> int:
    """The link leads to the page at most; the answer is then given there."""
    path = links.address(member.tenant.slug, request=request.pk, member=member.pk).partition("/t/")[2]
    client = browser(member)
    page = client.get(f"/t/{path}", follow=True)
    return page.status_code if page.status_code != 200 else through_page(request, member, key, service)


def through_service_key(request: ApprovalRequest, member: Member, _key: Key, service: Key) -> int:
    return through_api(request, member, service, service)


def through_callback(request: ApprovalRequest, member: Member, _key: Key, _service: Key) -> int:
    with scope(member.tenant_id):
        made = channels.add_chat(actor=actor(member), kind="slack", name="chat", url="slack://A/B/C")
        channel_people.bind(made.channel, actor=actor(member), member=member.email, external_id="U1")
    body = {"request": str(request.pk), "version": 1, "decision": "approve", "user": "U1"}
    text, now = exact_json.dumps(body), datetime.now(UTC)
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(now.timestamp()))}
    headers["webhook-signature"] = Webhook(made.secret).sign(msg_id="msg_1", timestamp=now, data=text)
    url = f"/callbacks/{member.tenant.slug}/chat"
    return Client().post(url, text, content_type="application/json", headers=headers).status_code


def _post(path: str, body: Any, key: Key) -> Any:
    text = exact_json.dumps(body)
    url = f"/api/v1/approval-requests{path}"
    return Client().post(url, text, content_type="application/json", headers=key.headers)


OPEN: dict[str, Door] = {
    "page": through_page,
    "api": through_api,
    "bulk": through_bulk,
    "link": through_link,
    "callback": through_callback,
    "service key": through_service_key,
}
ROLES: dict[str, tuple[str, ...]] = {
    "reviewer": ("reviewer",),
    "manager": ("manager",),
    "admin": ("admin",),
    "all three": ("reviewer", "manager", "admin"),
    "none": (),
}


def expected(role: str, door: str, whose: str) -> set[int]:
    """What the answer may be: yes for a reviewer at a door for people, about a run that others started."""
    if door == "service key":
        return {403}  # Such a key may not answer at all, so it learns nothing of any id.
    if whose == "other tenant":
        return {404}
    if role in ("reviewer", "all three") and whose == "foreign":
        return {302} if door in ("page", "link") else {201}
    # A page is not even shown to those who may not read the request.
    return {403, 404} if door in ("page", "link") else {403}


@pytest.mark.parametrize("whose", ["own", "foreign", "other tenant"])
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("role", ROLES)
def test_one_guard_stands_at_every_door(
    acme: Tenant, globex: Tenant, key_of: Any, alice: Member, role: str, door: str, whose: str
) -> None:
    member = make_member(acme, "Actor", *ROLES[role])
    starter = member.pk if whose == "own" else ids.new()
    request = park(globex if whose == "other tenant" else acme, a_call(initiators=(starter,)))
    status = OPEN[door](request, member, key_of(member), key_of(member, service=True))
    allowed = expected(role, door, whose)
    assert status in allowed
    assert (fresh(request).status == "approved") is bool(allowed & {201, 302})
    if 403 in allowed and status == 403:
        with scope(acme.pk):
            assert AuditEntry.objects.filter(refused=True).count() == 1
