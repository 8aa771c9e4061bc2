"""A restricted agent: who may see, operate and review it, set over HTTP and on its page, through one function."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from approvals.models import ApprovalRequest
from approvals.reviewers import may_decide
from tenants import stamps
from tenants.models import AuditContent, AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.api.test_switches import send
from tests.cast.people import Key
from tests.cast.plays import switch_on
from tests.cast.requests import park
from tests.cast.runs import decide

HERE = "/agents/refund-desk"


@pytest.fixture
def on(acme: Tenant) -> None:
    switch_on(acme, "refund-desk")


@pytest.fixture
def page(ravi: Member) -> Callable[..., Any]:
    client = Client()
    client.force_login(ravi.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    address = "/t/acme/settings/agents/refund-desk/people/"
    return lambda **sent: client.post(address, sent) if sent else client.get(address)


def told(tenant: Tenant) -> list[tuple[str, bool]]:
    with scope(tenant.pk):
        rows = AuditEntry.objects.filter(target="agent:refund-desk").order_by("seq")
        return list(rows.values_list("action", "refused"))


def allowed(member: Member, request: ApprovalRequest) -> bool:
    with scope(request.tenant_id):
        return may_decide(member, request).allowed


@pytest.mark.usefixtures("on")
def test_restricting_takes_the_right_from_all_and_a_permission_gives_it_to_one(
    acme: Tenant, alice: Member, bo: Member, ravi_key: Key
) -> None:
    request = park(acme)
    assert allowed(alice, request)
    answer = send(ravi_key, "patch", HERE, {"restricted": True})
    assert (answer.status_code, answer.json()["restricted"], answer.json()["enabled"]) == (200, True, True)
    assert not allowed(alice, request)
    with scope(acme.pk):
        stamp = stamps.read()
    answer = send(ravi_key, "put", f"{HERE}/permissions/{alice.pk}", {"permissions": ["review"]})
    assert (answer.status_code, answer.json()["permissions"]) == (200, ["review"]), answer.content
    assert (allowed(alice, request), allowed(bo, request)) == (True, False)
    with scope(acme.pk):
        assert stamps.read() > stamp
        last = AuditEntry.objects.get(action="agent.permitted")
        body = AuditContent.objects.get(seq=last.seq).body
    assert str(alice.pk) in body
    listed = send(ravi_key, "get", f"{HERE}/permissions").json()["items"]
    assert {each["name"]: each["permissions"] for each in listed}["Alice"] == ["review"]
    assert send(ravi_key, "put", f"{HERE}/permissions/{alice.pk}", {"permissions": []}).json()["permissions"] == []
    assert not allowed(alice, request)


@pytest.mark.usefixtures("on")
def test_the_same_permissions_again_change_and_record_nothing(acme: Tenant, alice: Member, ravi_key: Key) -> None:
    for _time in range(2):
        sent = {"permissions": ["view_runs", "review"]}
        assert send(ravi_key, "put", f"{HERE}/permissions/{alice.pk}", sent).status_code == 200
    assert told(acme).count(("agent.permitted", False)) == 1


@pytest.mark.usefixtures("on")
def test_only_an_admin_permits_and_only_what_there_is(
    alice: Member, alice_key: Key, ravi_key: Key, stranger: Member
) -> None:
    mine = f"{HERE}/permissions/{alice.pk}"
    assert send(alice_key, "put", mine, {"permissions": ["review"]}).status_code == 403
    assert send(ravi_key, "put", mine, {"permissions": ["everything"]}).status_code == 422
    assert send(ravi_key, "put", f"/agents/nobody/permissions/{alice.pk}", {"permissions": []}).status_code == 404
    foreign = send(ravi_key, "put", f"{HERE}/permissions/{stranger.pk}", {"permissions": ["review"]})
    unknown = send(ravi_key, "put", f"{HERE}/permissions/{uuid4()}", {"permissions": ["review"]})
    assert (foreign.status_code, foreign.json()["detail"]) == (404, unknown.json()["detail"])


@pytest.mark.usefixtures("on")
def test_the_page_saves_the_switch_and_each_line_whole(
    acme: Tenant, alice: Member, bo: Member, ravi: Member, page: Callable[..., Any]
) -> None:
    request = park(acme)
    assert "Restricted" in page().content.decode()
    sent = {"restricted": "1", "member": [str(alice.pk), str(bo.pk)], f"may.{bo.pk}": ["review", "view_runs"]}
    assert page(**sent).status_code == 303
    assert (allowed(alice, request), allowed(bo, request)) == (False, True)
    assert told(acme)[-2:] == [("agent.changed", False), ("agent.permitted", False)]
    boxes = re.findall(r' checked> <span><span class="visually-hidden">(\w+):', page().content.decode())
    assert boxes == ["Bo", "Bo"]
    # A member who was not on the page that was sent keeps what they had.
    assert page(restricted="1", member=[str(alice.pk)], **{f"may.{alice.pk}": ["review"]}).status_code == 303
    assert (allowed(alice, request), allowed(bo, request)) == (True, True)
    assert page(member=[str(alice.pk), str(bo.pk)]).status_code == 303
    assert allowed(alice, request)


@pytest.mark.usefixtures("on")
def test_who_may_not_read_a_restricted_request_cannot_tell_by_answering_that_it_exists(
    acme: Tenant, alice: Member, bo: Member, ravi_key: Key, alice_key: Key, mona_key: Key
) -> None:
    """Not before the answer, which would say what they may see, and not after, which would say who gave it."""
    assert send(ravi_key, "patch", HERE, {"restricted": True}).status_code == 200
    assert send(ravi_key, "put", f"{HERE}/permissions/{bo.pk}", {"permissions": ["review"]}).status_code == 200
    request = park(acme)

    def answers(key: Key, **sent: Any) -> list[tuple[int, Any]]:
        body = {"decision": "approve", "version": 1, **sent}
        paths = (f"/approval-requests/{each}/decisions" for each in (request.pk, uuid4()))
        return [(found.status_code, found.json()) for found in (send(key, "post", path, body) for path in paths)]

    for key in (alice_key, mona_key):
        for sent in ({}, {"version": 7}, {"decision": "perhaps"}):
            mine, unknown = answers(key, **sent)
            assert mine == unknown
            assert mine[0] == 404
    decide(bo, request)
    mine, unknown = answers(alice_key)
    assert mine == unknown
    permitted = {"permissions": ["view_runs"]}
    assert send(ravi_key, "put", f"{HERE}/permissions/{alice.pk}", permitted).status_code == 200
    assert answers(alice_key)[0][0] == 409
