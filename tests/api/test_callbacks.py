"""The door for chat services: only a signed message of a known person, in its time and once, reaches the guard."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from standardwebhooks import Webhook

from approvals import channel_people, channels
from approvals.models import ApprovalRequest, Review
from tenants import exact_json
from tenants.models import AuditContent, AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import a_call, fresh, park
from tests.db.test_escalation import hours_pass

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
PATHS = ("/callbacks/acme/chat", "/api/v1/callbacks/acme/chat")


@dataclass
class Bridge:
    """A chat app that signs with the channel's secret."""

    secret: str
    channel: Any
    path: str = PATHS[0]
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False, enforce_csrf_checks=True))

    def send(self, body: Any, *, message: str = "", at: datetime | None = None, **changes: Any) -> Any:
        text = body if isinstance(body, str) else exact_json.dumps(body)
        when = at or datetime.now(UTC)
        name = message or f"msg_{uuid4().hex}"
        signature = Webhook(changes.get("secret", self.secret)).sign(msg_id=name, timestamp=when, data=text)
        headers = {
            "webhook-id": name,
            "webhook-timestamp": str(int(when.timestamp())),
            "webhook-signature": changes.get("signature", signature),
        }
        headers = {key: value for key, value in headers.items() if key != changes.get("without")}
        sent = changes.get("sent", text)
        return self.client.post(changes.get("path", self.path), sent, content_type="application/json", headers=headers)


@pytest.fixture
def bridge(acme: Tenant, ravi: Member, alice: Member) -> Bridge:
    """A chat channel of acme in which `U1` is Alice."""
    with scope(acme.pk):
        made = channels.add_chat(actor=actor(ravi), kind="slack", name="chat", url="slack://A/B/C")
        channel_people.bind(made.channel, actor=actor(ravi), member=alice.email, external_id="U1")
    return Bridge(made.secret, made.channel)


def answer(about: ApprovalRequest, **changes: Any) -> dict[str, Any]:
    return {"request": str(about.pk), "version": 1, "decision": "approve", "user": "U1", **changes}


def refused(tenant: Tenant) -> list[str]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.filter(refused=True).order_by("seq").values_list("action", flat=True))


def told_of_refusals(tenant: Tenant) -> list[dict[str, Any]]:
    with scope(tenant.pk):
        entries = AuditContent.objects.filter(body__contains="signature or time") | AuditContent.objects.filter(
            body__contains='"why":"person"'
        )
        return [exact_json.loads(each.body)["detail"] for each in entries.order_by("seq")]


@pytest.mark.parametrize("path", PATHS)
def test_a_signed_answer_of_a_bound_person_counts(
    acme: Tenant, bridge: Bridge, parked: ApprovalRequest, alice: Member, path: str
) -> None:
    response = bridge.send(answer(parked, comment="Looks right."), path=path)
    assert response.status_code == 201
    assert response.json()["request"]["status"] == "approved"
    assert fresh(parked).status == "approved"
    with scope(acme.pk):
        review = Review.objects.get()
        assert (review.member_id, review.channel, review.comment) == (alice.pk, "callback", "Looks right.")
        entries = AuditEntry.objects.filter(channel="callback", refused=False).order_by("seq")
        assert [entry.action for entry in entries] == ["approval.decided", "callback.received"]


def test_unsigned_forged_late_and_twice(acme: Tenant, bridge: Bridge, parked: ApprovalRequest) -> None:
    body = answer(parked)
    late = datetime.now(UTC) - timedelta(minutes=6)
    early = datetime.now(UTC) + timedelta(minutes=6)
    for response in (
        bridge.send(body, without="webhook-signature"),
        bridge.send(body, secret="whsec_" + "A" * 43 + "="),
        bridge.send(body, at=late),
        bridge.send(body, at=early),
    ):
        assert response.status_code == 401
    assert fresh(parked).status == "pending"
    assert bridge.send(body, message="msg_once").status_code == 201
    again = bridge.send(body, message="msg_once")
    assert (again.status_code, again.json()["code"]) == (409, "message_used")
    with scope(acme.pk):
        assert Review.objects.count() == 1
    assert refused(acme) == ["callback.refused"] * 4


@pytest.mark.parametrize(
    "signature", ["", "v1", "v1,", "v1,x", "v2,AAAA", "v1,AAAA v1,BBBB", ",,,", "v1,é", "v1," + "A" * 5000]
)
def test_no_shape_of_a_signature_breaks_the_door(bridge: Bridge, parked: ApprovalRequest, signature: str) -> None:
    response = bridge.send(answer(parked), signature=signature.encode().decode("latin-1"))
    assert response.status_code == 401
    assert fresh(parked).status == "pending"


def test_what_was_signed_is_what_counts(bridge: Bridge, parked: ApprovalRequest) -> None:
    other = exact_json.dumps(answer(parked, decision="reject", comment="No."))
    assert bridge.send(answer(parked), sent=other).status_code == 401


def test_all_who_may_not_knock_get_one_answer(
    acme: Tenant, globex: Tenant, bridge: Bridge, parked: ApprovalRequest
) -> None:
    body = answer(parked)
    answers = {
        "forged": bridge.send(body, secret="whsec_" + "A" * 43 + "="),
        "unknown tenant": bridge.send(body, path="/callbacks/nobody/chat"),
        "other tenant": bridge.send(body, path="/callbacks/globex/chat"),
        "unknown channel": bridge.send(body, path="/callbacks/acme/other"),
        "unknown person": bridge.send(answer(parked, user="U2")),
        "no person": bridge.send(answer(parked, user=None)),
    }
    assert {(each.status_code, each.content) for each in answers.values()} == {(401, answers["forged"].content)}
    assert fresh(parked).status == "pending"


def test_whoever_only_knocks_fills_no_audit(acme: Tenant, bridge: Bridge, parked: ApprovalRequest) -> None:
    for _each in range(25):
        assert bridge.send(answer(parked), path="/callbacks/acme/imagined").status_code == 401
    assert refused(acme) == []
    for _each in range(103):
        assert bridge.send(answer(parked), signature="v1,AAAA").status_code == 401
    assert refused(acme) == ["callback.refused"] * 11
    assert told_of_refusals(acme)[-1]["refused"] == 100
    with scope(acme.pk):
        assert channels.named("chat").refused == 103


def test_the_next_hour_says_how_many_were_not_entered_one_by_one(
    acme: Tenant, bridge: Bridge, parked: ApprovalRequest
) -> None:
    for _each in range(13):
        bridge.send(answer(parked, user="U2"))
    with scope(acme.pk):
        row = channels.named("chat")
        row.refused_since = datetime.now(UTC) - timedelta(hours=2)
        row.save()
    bridge.send(answer(parked, user="U2"))
    assert len(refused(acme)) == 11
    assert told_of_refusals(acme)[-1] == {"why": "person", "refused_before": 13}
    assert bridge.send(answer(parked)).status_code == 201


def test_somebody_who_left_answers_nothing(
    acme: Tenant, bridge: Bridge, parked: ApprovalRequest, alice: Member
) -> None:
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(active=False)
    assert bridge.send(answer(parked)).status_code == 401


def test_another_tenants_request_is_an_unknown_one(bridge: Bridge, globex: Tenant, stranger: Member) -> None:
    theirs = park(globex)
    foreign, unknown = (bridge.send(answer(theirs, request=str(key))) for key in (theirs.pk, uuid4()))
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content
    assert fresh(theirs).status == "pending"


def test_the_same_guard_stands_here(acme: Tenant, bridge: Bridge, alice: Member, bo: Member) -> None:
    own = park(acme, a_call(initiators=(alice.pk,)))
    response = bridge.send(answer(own))
    assert (response.status_code, response.json()["code"]) == (403, "not_yours_initiator")
    assert bridge.send(answer(own, version=7)).status_code == 403
    assert fresh(own).status == "pending"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"decision": "approve!"}, "unknown_decision"),
        ({"decision": "edit"}, "invalid_arguments"),
        ({"decision": "reject"}, "reason_required"),
        ({"version": "1"}, "invalid"),
        ({"comment": 7}, "invalid"),
    ],
)
def test_what_cannot_be_used_is_said(
    bridge: Bridge, parked: ApprovalRequest, changes: dict[str, Any], code: str
) -> None:
    response = bridge.send(answer(parked, **changes))
    assert (response.status_code, response.json()["code"]) == (422, code)
    assert fresh(parked).status == "pending"


@pytest.mark.parametrize("body", ["", "[]", "7", '"x"', "{", "\x00"])
def test_a_signed_body_that_is_no_object_is_said_to_be_none(bridge: Bridge, body: str) -> None:
    assert bridge.send(body).status_code in (400, 422)


def test_a_request_that_wants_a_second_factor_is_not_answered_here(
    acme: Tenant, bridge: Bridge, alice: Member, bo: Member
) -> None:
    acme.second_factor = True
    acme.save()
    request = park(acme, a_call(risk="critical"))
    response = bridge.send(answer(request))
    assert (response.status_code, response.json()["code"]) == (403, "second_factor_required")
    assert fresh(request).status == "pending"


@pytest.mark.parametrize("code", ["000000", "", None, 123456])
def test_no_code_that_a_chat_app_sends_is_a_second_factor(
    acme: Tenant, bridge: Bridge, alice: Member, bo: Member, code: Any
) -> None:
    acme.second_factor = True
    acme.save()
    request = park(acme, a_call(risk="critical"))
    for name in ("code", "otp", "second_factor"):
        response = bridge.send({**answer(request), name: code})
        assert (response.status_code, response.json()["code"]) == (403, "second_factor_required")
    assert fresh(request).status == "pending"
    assert "approval.decide" in refused(acme)[0]


def test_an_answer_after_the_deadline_finds_it_expired_though_nothing_swept(
    acme: Tenant, bridge: Bridge, parked: ApprovalRequest
) -> None:
    hours_pass(parked, 25)
    response = bridge.send(answer(parked))
    assert (response.status_code, response.json()["standing"]["status"]) == (409, "expired")
    assert fresh(parked).status == "expired"
    with scope(acme.pk):
        assert not Review.objects.exists()
    again = bridge.send(answer(parked))
    assert (again.status_code, again.json()["standing"]["status"]) == (409, "expired")


def test_a_late_answer_is_told_what_stands(acme: Tenant, bridge: Bridge, parked: ApprovalRequest) -> None:
    assert bridge.send(answer(parked)).status_code == 201
    response = bridge.send(answer(parked))
    assert (response.status_code, response.json()["standing"]["status"]) == (409, "approved")


@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete", "options"])
def test_nothing_but_a_post_does_anything(bridge: Bridge, parked: ApprovalRequest, method: str) -> None:
    for path in PATHS:
        for _each in range(5):
            assert getattr(bridge.client, method)(path).status_code == 405
    assert fresh(parked).status == "pending"


def test_an_endless_body_is_not_read_on(bridge: Bridge, parked: ApprovalRequest) -> None:
    for length in (70_000, 3_000_000):
        assert bridge.send(answer(parked, comment="x" * length)).status_code == 413


def test_a_changed_secret_lets_the_former_in_for_a_while(
    acme: Tenant, bridge: Bridge, ravi: Member, alice: Member
) -> None:
    with scope(acme.pk):
        made = channels.rotate(channels.named("chat"), actor=actor(ravi))
    assert bridge.send(answer(park(acme))).status_code == 201
    assert bridge.send(answer(park(acme)), secret=made.secret).status_code == 201
    with scope(acme.pk):
        row = channels.named("chat")
        row.former_until = datetime.now(UTC) - timedelta(seconds=1)
        row.save()
    assert bridge.send(answer(park(acme))).status_code == 401


@pytest.mark.parametrize("close", ["switched off", "removed"])
def test_a_channel_that_an_admin_ended_lets_nobody_in(
    acme: Tenant, bridge: Bridge, ravi: Member, parked: ApprovalRequest, close: str
) -> None:
    with scope(acme.pk):
        row = channels.named("chat")
        if close == "removed":
            channels.remove(row, actor=actor(ravi))
        else:
            channels.change(row, actor=actor(ravi), changes={"enabled": False})
    assert bridge.send(answer(parked)).status_code == 401


def test_two_that_come_at_the_same_time_count_once(bridge: Bridge, parked: ApprovalRequest) -> None:
    def send(_number: int) -> int:
        try:
            status: int = bridge.send(answer(parked), message="msg_same").status_code
            return status
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(send, range(4))) == [201, 409, 409, 409]


def test_no_secret_of_the_door_is_in_a_log(
    bridge: Bridge, parked: ApprovalRequest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    bridge.send(answer(parked), path="/callbacks/nobody/chat")
    bridge.send(answer(parked))
    assert bridge.secret not in caplog.text
