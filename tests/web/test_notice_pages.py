"""The pages of webhooks, chat channels, deliveries and one's own notices."""

import re
from typing import Any

import pytest

from approvals import channels
from approvals.models import ApprovalRequest, Channel, ChannelPerson, Delivery
from approvals.notifications import delivery
from tenants import ids
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import park
from tests.harness.outside import Receiver
from tests.web.test_settings_pages import BASE, browser

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
CHAT = {"kind": "slack", "name": "refunds", "url": "slack://TokenA/TokenB/TokenC"}


def only(tenant: Tenant) -> Channel:
    with scope(tenant.pk):
        return Channel.objects.get()


def a_room(admin: Member) -> Channel:
    with scope(admin.tenant_id):
        return channels.add_chat(actor=actor(admin), **CHAT).channel


@pytest.mark.parametrize("path", ["webhooks/", "channels/", "deliveries/"])
def test_an_admin_opens_it_and_nobody_else(path: str, ravi: Member, alice: Member, mona: Member) -> None:
    assert browser(ravi).get(BASE + path).status_code == 200
    for other in (alice, mona):
        assert browser(other).get(BASE + path).status_code == 403


def test_everybody_has_notices(ravi: Member, alice: Member, mona: Member) -> None:
    for member in (ravi, alice, mona):
        assert browser(member).get(f"{BASE}notices/").status_code == 200


def test_a_webhook_is_made_and_its_secret_shown_once(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    client = browser(ravi)
    form = {"url": receiver.url, "name": "", "events.approval": ["approval.requested"], "events.run": ["run.failed"]}
    text = client.post(f"{BASE}webhooks/", form).text
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", text)
    assert secret not in client.get(f"{BASE}webhooks/").text
    assert only(acme).events == ["approval.requested", "run.failed"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": "http://10.0.0.1/"}, "This leads to an address inside."),
        ({"events.approval": []}, "Choose at least one event."),
        ({"url": ""}, "This field is required."),
    ],
)
def test_a_webhook_that_cannot_be_is_said_why(
    acme: Tenant, ravi: Member, receiver: Receiver, changes: dict[str, Any], words: str
) -> None:
    form = {"url": receiver.url, "events.approval": ["approval.requested"], **changes}
    response = browser(ravi).post(f"{BASE}webhooks/", form)
    assert response.status_code == 422
    assert words in response.text
    with scope(acme.pk):
        assert not Channel.objects.exists()


def test_a_webhook_is_tried_switched_and_removed(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    client = browser(ravi)
    client.post(f"{BASE}webhooks/", {"url": receiver.url, "events.run": ["run.failed"]})
    key = only(acme).pk
    where = client.post(f"{BASE}webhooks/{key}/test/").headers["Location"]
    delivery.sweep()
    page = client.get(where).text
    assert "A test is on its way to 127.0.0.1." in page
    assert "sent" in page
    client.post(f"{BASE}webhooks/{key}/switch/", {"enabled": "0"})
    assert only(acme).enabled is False
    assert "switched off" in client.get(f"{BASE}webhooks/").text
    client.post(f"{BASE}webhooks/{key}/switch/", {"enabled": "1"})
    assert only(acme).enabled is True
    assert "whsec_" in client.post(f"{BASE}webhooks/{key}/secret/").text
    assert client.post(f"{BASE}webhooks/{key}/remove/").status_code == 303
    assert only(acme).archived_at is not None
    assert "No webhook yet" in client.get(f"{BASE}webhooks/").text


def test_what_kept_failing_is_said_on_its_page(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    client = browser(ravi)
    client.post(f"{BASE}webhooks/", {"url": receiver.url, "events.approval": ["approval.requested"]})
    receiver.how = 500
    park(acme)
    delivery.sweep()
    assert "Failed once, since" in client.get(f"{BASE}webhooks/").text
    receiver.how = 410
    park(acme)
    delivery.sweep()
    page = client.get(f"{BASE}webhooks/").text
    assert "It failed and was switched off. Nobody is told by it." in page


def test_a_chat_channel_is_made_and_its_address_never_shown(acme: Tenant, ravi: Member, alice: Member) -> None:
    client = browser(ravi)
    made = client.post(f"{BASE}channels/", {**CHAT, "kinds": ["asked", "nobody_left"]}).text
    assert "whsec_" in made
    key = only(acme).pk
    bound = {"member": str(alice.pk), "external_id": "U024"}
    assert client.post(f"{BASE}channels/{key}/people/", bound).status_code == 303
    page = client.get(f"{BASE}channels/").text
    assert "U024" in page
    assert "/callbacks/acme/refunds" in page
    assert "Token" not in made + page
    with scope(acme.pk):
        person = ChannelPerson.objects.get()
    assert client.post(f"{BASE}channels/{key}/people/{person.pk}/release/").status_code == 303
    assert "U024" not in client.get(f"{BASE}channels/").text


def test_an_admin_says_what_a_chat_channel_hears(acme: Tenant, ravi: Member) -> None:
    client = browser(ravi)
    assert client.post(f"{BASE}channels/", CHAT).status_code == 422
    client.post(f"{BASE}channels/", {**CHAT, "kinds": ["asked", "nobody_left"]})
    row = only(acme)
    assert row.kinds == ["asked", "nobody_left"]
    hears = f"{BASE}channels/{row.pk}/hears/"
    assert client.post(hears, {"kinds": ["closing_soon"]}).status_code == 303
    assert client.post(hears, {"kinds": ["ended"]}).status_code == 422
    assert client.post(hears).status_code == 422
    assert only(acme).kinds == ["closing_soon"]


def test_a_refused_form_shows_no_address_again(acme: Tenant, ravi: Member) -> None:
    response = browser(ravi).post(f"{BASE}channels/", {**CHAT, "name": "a b"})
    assert response.status_code == 422
    assert "Token" not in response.text


def test_what_failed_is_found_and_sent_again(acme: Tenant, ravi: Member, receiver: Receiver, alice: Member) -> None:
    client = browser(ravi)
    client.post(f"{BASE}webhooks/", {"url": receiver.url, "events.approval": ["approval.requested"]})
    with scope(acme.pk):
        receiver.how = 410
    park(acme)
    delivery.sweep()
    page = client.get(f"{BASE}deliveries/?status=failed").text
    assert "given up" in page
    assert "410" in page
    with scope(acme.pk):
        Channel.objects.update(enabled=True)
        dead = Delivery.objects.get(transport="webhook")
    receiver.how = 200
    assert client.post(f"{BASE}deliveries/{dead.pk}/resend/").status_code == 303
    delivery.sweep()
    with scope(acme.pk):
        assert Delivery.objects.filter(transport="webhook", status="sent", origin=dead.pk).exists()


def test_an_open_request_says_what_could_not_be_told(
    acme: Tenant, alice: Member, settings: Any, parked: ApprovalRequest
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    delivery.sweep()
    page = browser(alice).get(f"/t/acme/requests/{parked.pk}/").text
    assert "Not delivered yet: Alice (" in page
    assert "refused" in page


def test_an_open_request_says_who_was_told(acme: Tenant, alice: Member, parked: ApprovalRequest) -> None:
    client = browser(alice)
    assert "Told by message" not in client.get(f"/t/acme/requests/{parked.pk}/").text
    delivery.sweep()
    assert "Told by message: Alice and Bo." in client.get(f"/t/acme/requests/{parked.pk}/").text


def test_a_person_says_how_they_are_told(acme: Tenant, alice: Member) -> None:
    client = browser(alice)
    form = {
        "locale": "",
        "timezone": "Europe/Berlin",
        "email": ["asked", "closing_soon"],
        "chat": [],
        "digest": "hourly",
        "quiet_from": "22:00",
        "quiet_until": "07:00",
    }
    assert client.post(f"{BASE}notices/", form).status_code == 303
    page = client.get(f"{BASE}notices/").text
    assert re.search(r'name="quiet_from" value="22:00"', page)
    assert len(re.findall(r'name="email"[^>]*checked', page)) == 2
    assert client.post(f"{BASE}notices/", {**form, "quiet_until": ""}).status_code == 422
    assert client.post(f"{BASE}notices/", {**form, "locale": "zh-hans"}).status_code == 303
    assert "已保存。" in client.get(f"{BASE}notices/").text
    assert client.post(f"{BASE}notices/", form).status_code == 303
    assert "Saved." in client.get(f"{BASE}notices/").text
    with scope(acme.pk):
        assert Member.objects.get(pk=alice.pk).timezone == "Europe/Berlin"
        assert AuditEntry.objects.filter(action="notices.changed").count() == 3


def test_a_person_tries_their_mail(acme: Tenant, alice: Member) -> None:
    client = browser(alice)
    assert client.post(f"{BASE}notices/test/").status_code == 303
    assert "on its way" in client.get(f"{BASE}notices/").text
    delivery.sweep()
    assert "Last test" in client.get(f"{BASE}notices/").text


def test_a_persons_own_channel_is_theirs(acme: Tenant, alice: Member, ravi: Member) -> None:
    client = browser(alice)
    assert client.post(f"{BASE}notices/channels/", {**CHAT, "name": "mine"}).status_code == 303
    key = only(acme).pk
    page = client.get(f"{BASE}notices/").text
    assert "mine" in page
    assert "Token" not in page
    for verb in ("test", "remove"):
        assert browser(ravi).post(f"{BASE}notices/{key}/{verb}/").status_code == 404
        assert browser(ravi).post(f"{BASE}channels/{key}/{verb}/").status_code == 404
        assert client.post(f"{BASE}notices/{key}/{verb}/").status_code == 303
    assert only(acme).archived_at is not None


ACTS = ("test", "secret", "switch", "remove")


def test_a_webhook_is_no_chat_channel_and_a_foreign_one_is_none(acme: Tenant, ravi: Member, stranger: Member) -> None:
    mine, client = a_room(ravi), browser(ravi)
    with scope(stranger.tenant_id):
        theirs = channels.add_chat(actor=actor(stranger), **CHAT).channel
    for act in ACTS:
        assert client.post(f"{BASE}webhooks/{mine.pk}/{act}/").status_code == 404
        foreign, unknown = (client.post(f"{BASE}channels/{key}/{act}/").status_code for key in (theirs.pk, ids.new()))
        assert foreign == unknown == 404
        assert client.get(f"{BASE}channels/{mine.pk}/{act}/").headers["Location"] == f"{BASE}channels/"


def test_the_pages_cost_a_fixed_number_of_queries(
    acme: Tenant, ravi: Member, alice: Member, django_assert_max_num_queries: Any
) -> None:
    client = browser(ravi)
    paths = ("webhooks/", "channels/", "deliveries/", "notices/")

    def fill(start: int) -> None:
        with scope(acme.pk):
            for number in range(start, start + 4):
                channels.add_chat(actor=actor(ravi), **{**CHAT, "name": f"room{number}"})
                row = channels.named(f"room{number}")
                ChannelPerson.objects.create(tenant_id=acme.pk, channel=row, member=alice, external_id=f"U{number}")
                channels.add_webhook(actor=actor(ravi), url="https://example.com/x", events=["run.failed"])
                channels.trial(row, actor=actor(ravi))

    fill(0)
    few = {}
    for path in paths:
        client.get(BASE + path)
        with django_assert_max_num_queries(40) as seen:
            client.get(BASE + path)
        few[path] = len(seen)
    fill(10)
    for path in paths:
        with django_assert_max_num_queries(few[path]):
            client.get(BASE + path)
