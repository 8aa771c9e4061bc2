"""Webhooks: told in the event's own transaction, signed, tried again, given up where people can see it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db import connection, connections
from standardwebhooks import Webhook

from approvals import channels, deliveries
from approvals.models import CallbackSeen, Channel, Delivery
from approvals.notifications import delivery, failures, posting
from approvals.tasks import tidy
from tenants import events, exact_json
from tenants.locks import hold
from tenants.models import AuditEntry, Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import WORKER, fresh, park
from tests.db.test_notifications import decide
from tests.harness.outside import Receiver, serve, until

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def hook(member: Member, receiver: Receiver, *names: str) -> channels.Made:
    with scope(member.tenant_id):
        wanted = list(names) or ["approval.requested"]
        return channels.add_webhook(actor=actor(member), url=receiver.url, events=wanted)


def sent(tenant: Tenant, **having: Any) -> list[Delivery]:
    with scope(tenant.pk):
        return list(Delivery.objects.filter(transport="webhook", **having).order_by("created_at", "id"))


def fares(made: channels.Made) -> Channel:
    with scope(made.channel.tenant_id):
        return Channel.objects.get(pk=made.channel.pk)


def later() -> None:
    """Everything that waits is due now, and no channel rests."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE approvals_channel SET not_before = NULL")
        cursor.execute("UPDATE approvals_delivery SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL")


def test_an_event_reaches_who_subscribed_to_it_signed(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = hook(ravi, receiver)
    request = park(acme)
    assert receiver.got == []
    delivery.sweep()
    ((headers, body),) = receiver.got
    read = Webhook(made.secret).verify(body, headers)
    assert read["type"] == "approval.requested"
    assert datetime.fromisoformat(read["timestamp"]).tzinfo is not None
    assert read["data"]["request"] == str(request.pk)
    assert read["data"]["tenant"] == "acme"
    (row,) = sent(acme)
    assert (row.status, row.attempts, row.request_id) == ("sent", 1, request.pk)
    assert headers["webhook-id"] == f"msg_{row.pk.hex}"


def test_nothing_secret_leaves_with_an_event(acme: Tenant, ravi: Member, alice: Member, receiver: Receiver) -> None:
    hook(ravi, receiver, "approval.requested", "approval.rejected", "approval.reviewed")
    request = park(acme)
    decide(request, alice, "reject", comment="The customer lied.")
    delivery.sweep()
    told = b"".join(receiver.bodies)
    assert b'"decision":"reject"' in told
    for secret in (b"1240", b"A-1042", b"broken", b"lied"):
        assert secret not in told


def test_what_nobody_subscribed_to_is_not_written(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver, "run.failed")
    park(acme)
    assert sent(acme) == []


def test_of_the_events_of_one_statement_each_is_told_that_was_subscribed_to(
    acme: Tenant, ravi: Member, receiver: Receiver
) -> None:
    hook(ravi, receiver, "step.completed", "step.started")
    with scope(acme.pk):
        hold("case:1")
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tenants_event (tenant_id, subject, seq, name, at, actor, message, data)"
                " SELECT app_tenant(), subject_bytes('case:1'), e.seq, e.name, now(), '[\"command\"]', '', '{}'"
                " FROM unnest(ARRAY['step.completed', 'step.planned', 'step.started']) WITH ORDINALITY AS e(name, seq)"
            )
            cursor.execute("SELECT events_appended(app_tenant(), subject_bytes('case:1'), 1, 3)")
            cursor.execute("SELECT events_appended(app_tenant(), subject_bytes('case:1'), 1, 3)")  # Told once.
    assert sorted((row.seq, row.kind, row.subject) for row in sent(acme)) == [
        (1, "step.completed", "case:1"),
        (3, "step.started", "case:1"),
    ]


def test_an_event_that_is_rolled_back_is_told_to_nobody(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver, "run.commented")

    def fail() -> None:
        with scope(acme.pk):
            hold("run:x")
            events.append("run:x", "run.commented", actor=WORKER)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    delivery.sweep()
    assert (sent(acme), receiver.got) == ([], [])


def test_another_tenants_events_stay_there(
    acme: Tenant, globex: Tenant, ravi: Member, stranger: Member, receiver: Receiver
) -> None:
    hook(stranger, receiver)
    park(acme)
    delivery.sweep()
    assert receiver.got == []


@pytest.mark.parametrize(
    ("how", "why"),
    [(500, "answered 500"), (404, "answered 404"), ("redirect", "redirects are not followed"), ("cut", "broke off")],
)
def test_a_failure_is_tried_again_under_the_same_id(
    acme: Tenant, ravi: Member, receiver: Receiver, how: int | str, why: str
) -> None:
    hook(ravi, receiver)
    receiver.how = how
    request = park(acme)
    delivery.sweep()
    (row,) = sent(acme)
    assert row.status == "pending"
    assert why in row.error
    receiver.how = 200
    assert delivery.sweep() == 0
    later()
    delivery.sweep()
    assert [each.status for each in sent(acme)] == ["sent"]
    assert len({headers["webhook-id"] for headers, _body in receiver.got}) == 1
    assert len(receiver.got) == 2
    assert fresh(request).status == "pending"


@pytest.mark.parametrize(("how", "why"), [("hang", "within"), ("drip", "within"), ("huge", "too long")])
def test_one_that_is_slow_or_without_end_is_left(
    acme: Tenant, ravi: Member, receiver: Receiver, how: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "PATIENCE", 1.0)
    hook(ravi, receiver)
    receiver.how = how
    park(acme)
    delivery.sweep()
    (row,) = sent(acme)
    assert row.status == "pending"
    assert why in row.error


def test_nobody_there_hinders_nothing(acme: Tenant, ravi: Member, alice: Member, receiver: Receiver) -> None:
    receiver.port = 1
    hook(ravi, receiver)
    request = park(acme)
    delivery.sweep()
    assert "refused" in sent(acme)[0].error
    decide(request, alice)
    assert fresh(request).status == "approved"


def test_a_huge_body_is_not_read(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    receiver.headers = {"X-Long": "y" * 30_000}
    hook(ravi, receiver)
    park(acme)
    delivery.sweep()
    assert [row.status for row in sent(acme)] == ["sent"]


def test_gone_means_gone(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = hook(ravi, receiver)
    receiver.how = 410
    park(acme)
    delivery.sweep()
    assert fares(made).enabled is False
    assert "410" in fares(made).off_because
    (row,) = sent(acme)
    assert row.status == "given_up"
    park(acme)
    assert len(sent(acme)) == 1


def test_a_wait_that_is_asked_for_is_kept(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver)
    receiver.how, receiver.headers = 503, {"Retry-After": "1200"}
    park(acme)
    delivery.sweep()
    (row,) = sent(acme)
    assert row.due_at is not None
    assert row.due_at > datetime.now(UTC) + timedelta(seconds=1100)


NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("999999999", 86400),
        ("", 0),
        ("soon", 0),
        ("-5", 0),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str, seconds: float) -> None:
    assert failures.told_wait(text, now=NOON) == seconds


def test_the_pause_grows_and_is_spread() -> None:
    pauses = [failures.pause(1).total_seconds() for _each in range(50)]
    assert all(2.5 <= each <= 5 for each in pauses)
    assert len(set(pauses)) > 1
    assert failures.pause(30).total_seconds() <= 3600
    assert failures.pause(1, wait=500).total_seconds() == 500


def test_what_never_arrives_is_given_up_and_sent_again_by_hand(
    acme: Tenant, ravi: Member, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(failures.MOST_ATTEMPTS, "webhook", 2)
    hook(ravi, receiver)
    receiver.how = 500
    park(acme)
    for _number in range(3):
        delivery.sweep()
        later()
    (dead,) = sent(acme)
    assert (dead.status, dead.attempts) == ("given_up", 2)
    receiver.how = 200
    with scope(acme.pk):
        again = deliveries.resend(dead.pk, actor=actor(ravi))
    delivery.sweep()
    assert sent(acme, pk=again.pk)[0].status == "sent"
    assert {headers["webhook-id"] for headers, _body in receiver.got} == {f"msg_{dead.pk.hex}"}
    with scope(acme.pk):
        assert AuditEntry.objects.filter(action="delivery.resent").exists()


def test_what_is_on_its_way_is_not_sent_again(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver)
    park(acme)
    with scope(acme.pk), pytest.raises(Refusal) as refused:
        deliveries.resend(Delivery.objects.get(transport="webhook").pk, actor=actor(ravi))
    assert refused.value.status == 409


def test_a_changed_secret_signs_beside_the_former_one(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    first = hook(ravi, receiver)
    with scope(acme.pk):
        second = channels.rotate(first.channel, actor=actor(ravi))
    assert second.secret != first.secret
    park(acme)
    delivery.sweep()
    ((headers, body),) = receiver.got
    for secret in (first.secret, second.secret):
        assert Webhook(secret).verify(body, headers)["type"] == "approval.requested"
    with scope(acme.pk):
        Channel.objects.update(former_until=datetime.now(UTC) - timedelta(seconds=1))
    park(acme)
    delivery.sweep()
    assert len(receiver.got[1][0]["webhook-signature"].split()) == 1


def test_a_test_is_sent_once_and_says_what_came_of_it(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = hook(ravi, receiver)
    receiver.how = 500
    with scope(acme.pk):
        row = channels.trial(made.channel, actor=actor(ravi))
    delivery.sweep()
    assert exact_json.loads(receiver.bodies[0])["type"] == "webhook.test"
    (told,) = sent(acme, pk=row.pk)
    assert (told.status, told.error) == ("given_up", "The receiver answered 500")


def test_two_schedulers_send_once(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver)
    park(acme)
    (row,) = sent(acme)
    first, second = delivery.claim(acme.pk, row.pk), delivery.claim(acme.pk, row.pk)
    assert first is not None
    assert second is None


def test_a_sender_that_dies_after_sending_leaves_one_that_is_sent_again_under_its_id(
    acme: Tenant, ravi: Member, receiver: Receiver
) -> None:
    hook(ravi, receiver)
    park(acme)
    (row,) = sent(acme)
    claimed = delivery.claim(acme.pk, row.pk)
    assert claimed is not None
    assert delivery.parcels.send([claimed.parcel]) == [None]
    later()
    delivery.sweep()
    assert [headers["webhook-id"] for headers, _body in receiver.got] == [f"msg_{row.pk.hex}"] * 2
    assert [(each.status, each.attempts) for each in sent(acme)] == [("sent", 2)]


def test_one_that_hangs_lets_the_others_through(
    acme: Tenant, ravi: Member, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "PATIENCE", 1.0)
    slow = Receiver(how="hang")
    server = serve(slow)
    try:
        hook(ravi, slow)
        hook(ravi, receiver)
        for _number in range(5):
            park(acme)
        delivery.sweep()
    finally:
        slow.released.set()
        server.shutdown()
        server.server_close()
    assert len(receiver.got) == 5
    assert len(slow.got) == 1


def test_one_that_hangs_is_not_waited_for_by_the_next_sweep(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    slow = Receiver(how="hang")
    server = serve(slow)
    try:
        hook(ravi, slow)
        hook(ravi, receiver)
        park(acme)
        delivery.sweep(patience=0.01)
        park(acme)
        until(lambda: (delivery.sweep(patience=0.01), len(receiver.got) == 2)[1])
        until(lambda: slow.got)
        assert len(slow.got) == 1
    finally:
        slow.released.set()
        server.shutdown()
        server.server_close()
    until(lambda: not delivery._in_hand)


def test_a_channel_that_fails_in_a_row_rests(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = hook(ravi, receiver)
    receiver.how = 500
    for _number in range(4):
        park(acme)
    delivery.sweep()
    assert fares(made).failures >= 3
    seen = len(receiver.got)
    assert delivery.sweep() == 0
    assert len(receiver.got) == seen
    receiver.how = 200
    later()
    delivery.sweep()
    assert (fares(made).failures, fares(made).failing_since) == (0, None)


def keeps_failing(made: channels.Made, receiver: Receiver, settings: Any) -> None:
    """It has failed nine times for a long time, and does so once more."""
    with scope(made.channel.tenant_id):
        since = datetime.now(UTC) - timedelta(seconds=settings.CHANNEL_FAILING_SECONDS + 60)
        Channel.objects.filter(pk=made.channel.pk).update(failures=9, failing_since=since)
    receiver.how = 500
    later()
    delivery.sweep()


def test_a_channel_that_keeps_failing_is_switched_off_and_said(
    acme: Tenant, ravi: Member, receiver: Receiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    made = hook(ravi, receiver)
    receiver.how = 200
    park(acme)
    keeps_failing(made, receiver, settings)
    assert fares(made).enabled is False
    assert [row.status for row in sent(acme)] == ["given_up"]
    subject = f"channel:{made.channel.pk}"
    with scope(acme.pk):
        (event,) = events.after(subject, 0, 10)
        assert (event.name, event.data["because"]) == ("notification.failed", "switched_off")
        assert AuditEntry.objects.filter(action="channel.switched_off", target=subject).count() == 1
        told = Delivery.objects.get(kind="channel_off")
    assert told.member_id == ravi.pk
    with scope(acme.pk):
        row = channels.change(
            channels.found(made.channel.pk, webhook=True), actor=actor(ravi), changes={"enabled": True}
        )
    assert (row.enabled, row.failures, row.off_because) == (True, 0, "")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x",
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://2130706433/x",
        "https://0x7f.1/x",
        "https://10.1.2.3/x",
        "https://169.254.169.254/latest/meta-data",
        "https://100.100.100.200/",
        "https://168.63.129.16/",
        "https://[fd00:ec2::254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[64:ff9b:1::a9fe:a9fe]/",
        "https://[::127.0.0.1]/",
        "https://[::ffff:0:127.0.0.1]/",
        "https://localhost./x",
        "https://user:password@example.com/",
        "ftp://example.com/",
        "https://",
        "https://example.com:99999/",
        "https://exa mple.com/",
        "https://example.com/\n",
        7,
        None,
    ],
)
def test_a_url_that_leads_inside_or_nowhere_is_refused(acme: Tenant, ravi: Member, url: Any) -> None:
    with scope(acme.pk), pytest.raises(Refusal) as refused:
        channels.add_webhook(actor=actor(ravi), url=url, events=["run.failed"])
    assert refused.value.errors[0]["field"] == "url"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/", "http://hooks.example/", "https://127.0.0.1:8080/"])
def test_whoever_tries_a_receiver_of_their_own_is_told_what_would_allow_it(
    acme: Tenant, ravi: Member, url: str
) -> None:
    with scope(acme.pk), pytest.raises(Refusal) as refused:
        channels.add_webhook(actor=actor(ravi), url=url, events=["run.failed"])
    assert "OUTBOUND_NETWORKS=127.0.0.1/32" in refused.value.errors[0]["message"]


def test_a_name_that_leads_inside_is_seen_when_it_is_called(
    acme: Tenant, ravi: Member, receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name answers with an address outside when the webhook is made, with one inside when it is called."""
    made = hook(ravi, receiver)
    settings.OUTBOUND_NETWORKS = []
    with scope(acme.pk):
        channels.change(made.channel, actor=actor(ravi), changes={"url": "https://localhost.example/hook"})
    answer = [(2, 1, 6, "", ("127.0.0.1", receiver.port))]
    monkeypatch.setattr("approvals.notifications.guard.socket.getaddrinfo", lambda *_args, **_names: answer)
    park(acme)
    delivery.sweep()
    assert receiver.got == []
    assert "inside" in sent(acme)[0].error


def test_what_was_checked_is_what_is_connected_to(
    acme: Tenant, ravi: Member, receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers otherwise the second time is not asked a second time."""
    made = hook(ravi, receiver)
    with scope(acme.pk):
        url = f"http://rebinding.example:{receiver.port}/hook"
        channels.change(made.channel, actor=actor(ravi), changes={"url": url})
    settings.OUTBOUND_NETWORKS = ["127.0.0.1/32"]
    asked: list[str] = []

    def answer(host: str, port: int, *_args: Any, **_names: Any) -> list[Any]:
        if host != "rebinding.example":
            return real(host, port, *_args, **_names)  # type: ignore[no-any-return]
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1" if len(asked) == 1 else "10.0.0.1", port))]

    real = posting.guard.socket.getaddrinfo
    monkeypatch.setattr("approvals.notifications.guard.socket.getaddrinfo", answer)
    park(acme)
    delivery.sweep()
    assert asked == ["rebinding.example"]
    assert receiver.got[0][0]["host"] == f"rebinding.example:{receiver.port}"


@pytest.mark.parametrize("names", [[], None, "run.failed", ["run.failed", "run.imagined"], [7]])
def test_an_event_that_is_none_is_refused(acme: Tenant, ravi: Member, receiver: Receiver, names: Any) -> None:
    with scope(acme.pk), pytest.raises(Refusal) as refused:
        channels.add_webhook(actor=actor(ravi), url=receiver.url, events=names)
    assert refused.value.errors[0]["field"] == "events"


def test_secrets_are_encrypted_at_rest(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = hook(ravi, receiver)
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT url || secret || former_secret FROM approvals_channel")
        (kept,) = cursor.fetchone()
    assert made.secret not in kept
    assert "127.0.0.1" not in kept


def test_a_webhooks_own_failures_are_told_to_no_webhook(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver, "approval.requested", "notification.failed", "notification.sent")
    receiver.how = 500
    park(acme)
    delivery.sweep()
    assert "notification.failed" not in [row.kind for row in sent(acme)]


def test_what_is_long_past_is_forgotten_and_what_concerns_a_request_stays_with_it(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    made = hook(ravi, receiver)
    park(acme)
    with scope(acme.pk):
        channels.trial(made.channel, actor=actor(ravi))
        CallbackSeen.objects.create(tenant_id=acme.pk, channel=made.channel, message="old")
    delivery.sweep()
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE approvals_delivery SET created_at = now() - interval '31 days'")
        cursor.execute("UPDATE approvals_callbackseen SET at = now() - interval '2 days'")
    tidy()
    assert [row.kind for row in sent(acme)] == ["approval.requested"]
    with scope(acme.pk):
        assert not CallbackSeen.objects.exists()


def certificate(path: Path) -> Path:
    """A certificate that nobody vouches for, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.sign(key, hashes.SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(signed.public_bytes(Encoding.PEM) + private)
    return path


def test_a_receiver_that_is_not_who_it_says_is_told_nothing(
    acme: Tenant, ravi: Member, settings: Any, tmp_path: Path
) -> None:
    settings.OUTBOUND_NETWORKS = ["127.0.0.0/8"]
    impostor = Receiver()
    server = serve(impostor, certificate=certificate(tmp_path / "impostor.pem"))
    try:
        hook(ravi, impostor)
        park(acme)
        delivery.sweep()
    finally:
        server.shutdown()
        server.server_close()
    assert impostor.got == []
    assert "certificate verify failed" in sent(acme)[0].error


def test_one_that_speaks_no_tls_is_told_nothing(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    receiver.scheme = "https"
    hook(ravi, receiver)
    park(acme)
    delivery.sweep()
    assert receiver.got == []
    assert sent(acme)[0].error.startswith("Could not connect")
