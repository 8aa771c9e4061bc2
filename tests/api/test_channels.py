"""The API of webhooks, chat channels, deliveries and one's own notices."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from approvals.models import Delivery
from approvals.notifications import delivery
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.api.conftest import ApiClient, read
from tests.cast.people import Key
from tests.cast.requests import park
from tests.harness.outside import Receiver

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
Api = Callable[[Key | None], ApiClient]
CHAT = {"kind": "slack", "name": "refunds", "url": "slack://TokenA/TokenB/TokenC/#refunds"}


@pytest.fixture
def admin(api: Api, ravi_key: Key) -> ApiClient:
    return api(ravi_key)


def test_a_webhooks_secret_is_told_once(admin: ApiClient, acme: Tenant, receiver: Receiver) -> None:
    made = admin.post("/webhooks", {"url": receiver.url, "events": ["approval.requested"]})
    assert made.status_code == 201
    shape = read(made)
    assert shape["secret"].startswith("whsec_")
    for path in ("/webhooks", f"/webhooks/{shape['id']}"):
        told = admin.get(path)
        assert told.status_code == 200
        assert shape["secret"] not in told.content.decode()
    assert read(told)["events"] == ["approval.requested"]


def test_a_webhook_is_changed_tried_and_removed(admin: ApiClient, acme: Tenant, receiver: Receiver) -> None:
    key = read(admin.post("/webhooks", {"url": receiver.url, "events": ["run.failed"]}))["id"]
    changed = read(admin.patch(f"/webhooks/{key}", {"events": ["run.succeeded", "run.failed"], "enabled": False}))
    assert (changed["events"], changed["enabled"]) == (["run.succeeded", "run.failed"], False)
    tried = read(admin.post(f"/webhooks/{key}/test"))
    delivery.sweep()
    (told,) = [each for each in read(admin.get("/deliveries"))["items"] if each["id"] == tried["id"]]
    assert (told["status"], told["kind"], told["transport"]) == ("sent", "test", "webhook")
    assert read(admin.post(f"/webhooks/{key}/secret"))["secret"].startswith("whsec_")
    assert admin.delete(f"/webhooks/{key}").status_code == 204
    assert admin.get(f"/webhooks/{key}").status_code == 404
    with scope(acme.pk):
        actions = set(AuditEntry.objects.filter(action__startswith="channel.").values_list("action", flat=True))
    assert actions == {f"channel.{verb}" for verb in ("created", "changed", "tested", "secret_changed", "removed")}


def test_a_chat_channel_says_which_notices_it_hears(admin: ApiClient, acme: Tenant) -> None:
    every = ["asked", "asked_again", "closing_soon", "nobody_left", "not_evaluable", "decided"]
    assert read(admin.post("/channels", CHAT))["kinds"] == every
    assert (
        read(admin.patch("/channels/refunds", {"kinds": ["closing_soon", "asked"]}))["kinds"] == every[:1] + every[2:3]
    )
    assert read(admin.get("/channels/refunds"))["kinds"] == every[:1] + every[2:3]
    for wrong in ([], ["ended"], ["asked", "nothing"]):
        refused = admin.patch("/channels/refunds", {"kinds": wrong})
        assert (refused.status_code, read(refused)["errors"][0]["field"]) == (422, "kinds")
    few = read(admin.post("/channels", {**CHAT, "name": "few", "kinds": ["asked"]}))
    assert few["kinds"] == ["asked"]


def test_a_chat_channels_address_is_never_told(admin: ApiClient, acme: Tenant, alice: Member) -> None:
    made = read(admin.post("/channels", CHAT))
    assert made["secret"].startswith("whsec_")
    assert admin.post("/channels", CHAT).status_code == 422
    bound = read(admin.post("/channels/refunds/people", {"member": alice.email, "external_id": "U1"}))
    assert bound["member"]["id"] == str(alice.pk)
    assert admin.post("/channels/refunds/people", {"member": alice.email, "external_id": "U1"}).status_code == 422
    told = admin.get("/channels/refunds")
    assert read(told)["people"][0]["external_id"] == "U1"
    everything = told.content + admin.get("/channels").content
    assert b"Token" not in everything
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT string_agg(c::text, '') FROM approvals_channel c")
        assert "Token" not in cursor.fetchone()[0]
    assert admin.delete(f"/channels/refunds/people/{bound['id']}").status_code == 204
    assert admin.delete("/channels/refunds").status_code == 204
    assert admin.post("/channels", CHAT).status_code == 201


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "pigeon"}, "kind"),
        ({"kind": None}, "kind"),
        ({"url": "mailto://x"}, "url"),
        ({"url": None}, "url"),
        ({"kind": "json", "url": "jsons://10.0.0.1/x"}, "url"),
        ({"kind": "json", "url": "jsons://localhost/x"}, "url"),
        ({"kind": "json", "url": "jsons://example.com/x?verify=no"}, "url"),
        ({"kind": "json", "url": "jsons://example.com/x?a=1&%56erify%20=0"}, "url"),
        ({"url": "slack://TokenA/TokenB/TokenC/#refunds?verify=no"}, "url"),
        ({"name": "a/b"}, "name"),
        ({"name": ""}, "name"),
        ({"name": ".."}, "name"),
    ],
)
def test_a_channel_that_cannot_be_is_said_why(admin: ApiClient, changes: dict[str, Any], field: str) -> None:
    response = admin.post("/channels", {**CHAT, **changes})
    assert response.status_code == 422
    assert read(response)["errors"][0]["field"] == field


NOBODYS = UUID(int=1)  # The same in each process: the names of tests are compared.
WAYS = (
    ("GET", "/webhooks", None),
    ("POST", "/webhooks", {"url": "https://example.com/x", "events": ["run.failed"]}),
    ("GET", "/channels", None),
    ("POST", "/channels", CHAT),
    ("POST", "/channels/refunds/people", {"member": "alice@acme.example", "external_id": "U1"}),
    ("GET", "/deliveries", None),
    ("POST", f"/deliveries/{NOBODYS}/resend", None),
)


@pytest.mark.parametrize(("method", "path", "body"), WAYS)
def test_only_an_admin_keeps_channels(
    api: Api, alice_key: Key, mona_key: Key, method: str, path: str, body: Any
) -> None:
    for key in (alice_key, mona_key):
        assert api(key).send(method, path, body).status_code == 403


def test_failed_deliveries_are_found_and_sent_again(
    admin: ApiClient, acme: Tenant, receiver: Receiver, alice: Member
) -> None:
    receiver.how = 410
    admin.post("/webhooks", {"url": receiver.url, "events": ["approval.requested"]})
    park(acme)
    delivery.sweep()
    (dead,) = read(admin.get("/deliveries?status=failed"))["items"]
    assert (dead["status"], dead["attempts"]) == ("given_up", 1)
    assert "410" in dead["error"]
    assert admin.post(f"/deliveries/{dead['id']}/resend").status_code == 409
    receiver.how = 200
    admin.patch(f"/webhooks/{dead['channel']}", {"enabled": True})
    again = read(admin.post(f"/deliveries/{dead['id']}/resend"))
    assert again["message"] == dead["message"]
    delivery.sweep()
    with scope(acme.pk):
        assert Delivery.objects.get(pk=again["id"]).status == "sent"


@pytest.mark.parametrize("query", ["status=odd", "transport=pigeon"])
def test_a_filter_that_is_none_is_refused(admin: ApiClient, query: str) -> None:
    assert admin.get(f"/deliveries?{query}").status_code == 422


def test_a_person_says_how_they_are_told(api: Api, alice_key: Key, acme: Tenant, alice: Member) -> None:
    mine = api(alice_key)
    before = read(mine.get("/notices"))
    assert (before["digest"], before["quiet"], before["kinds"]["asked"]) == (
        "none",
        None,
        {"email": True, "chat": True},
    )
    wanted = {
        "locale": "zh-hans",
        "timezone": "Asia/Shanghai",
        "digest": "daily",
        "quiet": {"from": "22:00", "until": "07:00"},
        "kinds": {"ended": {"email": False}},
    }
    after = read(mine.patch("/notices", wanted))
    assert after == read(mine.get("/notices"))
    assert {name: after[name] for name in ("locale", "timezone", "digest", "quiet")} == {
        name: wanted[name] for name in ("locale", "timezone", "digest", "quiet")
    }
    assert after["kinds"]["ended"] == {"email": False, "chat": True}
    assert read(mine.patch("/notices", {"quiet": None}))["digest"] == "daily"


@pytest.mark.parametrize(
    "body",
    [
        {"digest": "weekly"},
        {"quiet": {"from": "22:00"}},
        {"quiet": {"from": "22:00", "until": "22:00"}},
        {"quiet": "night"},
        {"kinds": {"pigeon": {"email": False}}},
        {"kinds": {"asked": {"pigeon": False}}},
        {"kinds": ["asked"]},
        {"timezone": "Mars/Olympus"},
        {"locale": "tlh"},
    ],
)
def test_a_wish_that_cannot_be_is_refused(api: Api, alice_key: Key, body: Any) -> None:
    before = read(api(alice_key).get("/notices"))
    assert api(alice_key).patch("/notices", body).status_code == 422
    assert read(api(alice_key).get("/notices")) == before


def test_a_persons_own_channel_is_theirs_alone(api: Api, alice_key: Key, ravi_key: Key, mona_key: Key) -> None:
    made = read(api(alice_key).post("/notices/channels", {"kind": "ntfy", "name": "mine", "url": "ntfys://topic"}))
    assert "secret" not in made
    assert read(api(mona_key).get("/notices/channels"))["items"] == []
    assert read(api(ravi_key).get("/channels"))["items"] == []
    assert api(mona_key).delete(f"/notices/channels/{made['id']}").status_code == 404
    assert api(alice_key).delete(f"/notices/channels/{made['id']}").status_code == 204
