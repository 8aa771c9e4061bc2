"""The bell: it rings for members, about what they may see, on commit, and never fails what it announces."""

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.conf import settings
from django.contrib.auth import logout
from django.db import connections
from django.http import HttpRequest
from django.test import Client
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tenants import consumers, events, live, locks, topics
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor

RUN = uuid.uuid4()


@pytest.fixture(autouse=True)
def _a_kind_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of topic that every member of the tenant may watch, where an event of it exists."""

    def number(_member: Member, key: str) -> int:
        return events.last_seq(f"probe:{key}")

    monkeypatch.setitem(topics.KINDS, "probe", topics.Kind(lambda member, key: number(member, key) > 0, number))
    monkeypatch.setattr(consumers, "TICK_SECONDS", 0.3)


def session_of(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


@contextmanager
def socket(
    server: Any, client: Client | None, slug: str = "acme", origin: str | None = ""
) -> Iterator[ClientConnection]:
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"} if client else {}
    url = server.url.replace("http", "ws") + f"/t/{slug}/live/"
    with connect(url, additional_headers=cookie, origin=server.url if origin == "" else origin) as found:  # type: ignore[arg-type]
        yield found


def happen(member: Member, count: int = 1) -> None:
    for _ in range(count):
        with scope(member.tenant_id):
            locks.hold(f"probe:{RUN}")
            events.append(f"probe:{RUN}", "run.commented", actor=actor(member))


def heard(found: ClientConnection, topic: str, seq: int, seconds: float = 5) -> bool:
    """Whether this very message comes in time; every message has a topic and a number and nothing else."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            message = json.loads(found.recv(timeout=left))
        except TimeoutError:
            return False
        assert set(message) == {"topic", "seq"}
        if message == {"topic": topic, "seq": seq}:
            return True
    return False


def everything(found: ClientConnection, seconds: float) -> list[dict[str, Any]]:
    """Every message that comes within the time."""
    messages: list[dict[str, Any]] = []
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with suppress(TimeoutError):
            messages.append(json.loads(found.recv(timeout=left)))
    return messages


def connections_dropped(name: str) -> int:
    valkey = live.connection(settings.CHANNEL_URL)
    ours = [each for each in valkey.client_list() if each["name"] == name]
    return sum(valkey.client_kill_filter(_id=each["id"]) for each in ours)


def watch(found: ClientConnection, *names: str) -> None:
    found.send(json.dumps({"watch": list(names)}))


def closed_with(found: ClientConnection) -> int:
    try:
        while True:
            found.recv(timeout=5)
    except ConnectionClosed as error:
        return error.rcvd.code if error.rcvd else 0


def test_a_page_hears_what_it_watches(live_server: Any, alice: Member) -> None:
    happen(alice)
    with socket(live_server, session_of(alice)) as found:
        watch(found, f"probe:{RUN}")
        assert heard(found, f"probe:{RUN}", 1)
        happen(alice)
        assert heard(found, f"probe:{RUN}", 2)


def test_the_inbox_is_heard_without_asking(live_server: Any, alice: Member) -> None:
    with socket(live_server, session_of(alice)) as found:
        end = time.monotonic() + 5
        rung = False
        while not rung and time.monotonic() < end:
            with scope(alice.tenant_id):
                live.ring("inbox", 7)
            rung = heard(found, "inbox", 7, 0.2)
        assert rung


def test_a_connection_that_broke_unnoticed_costs_the_next_page_nothing(
    live_server: Any, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server came back anew between two pages: the process still holds the connection of before."""
    host = {"address": settings.CHANNEL_URL, "client_name": f"bell-of-{RUN}"}
    layer = RedisPubSubChannelLayer(hosts=[host], prefix=settings.CHANNEL_PREFIX)
    monkeypatch.setitem(channel_layers.backends, "default", layer)
    client = session_of(alice)
    with socket(live_server, client) as found:
        assert json.loads(found.recv(timeout=5))["topic"] == "inbox"
    assert connections_dropped(f"bell-of-{RUN}") == 1
    with socket(live_server, client) as found:
        assert json.loads(found.recv(timeout=5))["topic"] == "inbox"


def test_a_page_is_told_to_come_again_where_the_bell_cannot_be_reached(
    live_server: Any, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = RedisPubSubChannelLayer(hosts=["redis://127.0.0.1:1"])
    monkeypatch.setitem(channel_layers.backends, "default", away)
    with socket(live_server, session_of(alice)) as found:
        assert closed_with(found) == consumers.TRY_AGAIN


def test_a_stranger_hears_nothing_of_it(live_server: Any, alice: Member, stranger: Member) -> None:
    happen(alice)
    with socket(live_server, session_of(stranger), slug="globex") as found:
        watch(found, f"probe:{RUN}", f"acme:probe:{RUN}", f"{alice.tenant_id.hex}.probe.{RUN}")
        time.sleep(0.3)
        happen(alice)
        with scope(alice.tenant_id):
            live.ring("inbox", 99)
        messages = everything(found, 1.0)
    assert {message["topic"] for message in messages} <= {"inbox"}, "of their own tenant"
    assert 99 not in {message["seq"] for message in messages}, "the other tenant's bell"


@pytest.mark.parametrize("slug", ["acme", "nowhere"])
def test_a_stranger_is_sent_away_from_a_tenant_as_from_one_that_does_not_exist(
    live_server: Any, acme: Tenant, stranger: Member, slug: str
) -> None:
    with socket(live_server, session_of(stranger), slug=slug) as found:
        assert closed_with(found) == 4401


def test_nobody_is_sent_away_too(live_server: Any, acme: Tenant) -> None:
    with socket(live_server, None) as found:
        assert closed_with(found) == 4401


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:1", None])
def test_a_page_of_another_origin_is_refused(live_server: Any, alice: Member, origin: str | None) -> None:
    with pytest.raises(InvalidStatus, match="403"), socket(live_server, session_of(alice), origin=origin):
        pass


def test_an_address_that_is_none_is_refused(live_server: Any) -> None:
    url = live_server.url.replace("http", "ws") + "/elsewhere/"
    with pytest.raises(InvalidStatus, match="403"), connect(url, origin=live_server.url):
        pass


def test_a_lost_membership_closes_the_socket(live_server: Any, alice: Member) -> None:
    with socket(live_server, session_of(alice)) as found:
        watch(found, "inbox")
        with scope(alice.tenant_id):
            Member.objects.filter(pk=alice.pk).update(active=False)
        assert closed_with(found) == 4401


def test_signing_out_closes_the_socket(live_server: Any, alice: Member) -> None:
    client = session_of(alice)
    with socket(live_server, client) as found:
        watch(found, "inbox")
        request = HttpRequest()
        request.session = client.session
        logout(request)
        assert closed_with(found) == 4401


def test_a_lost_ring_is_made_good_by_the_tick(live_server: Any, alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    happen(alice)
    with socket(live_server, session_of(alice)) as found:
        watch(found, f"probe:{RUN}")
        assert heard(found, f"probe:{RUN}", 1)
        monkeypatch.setattr(live.Bell, "ring", lambda *_: None)
        happen(alice)
        assert heard(found, f"probe:{RUN}", 2)


def test_a_look_that_fails_sends_the_page_to_come_again(live_server: Any, alice: Member) -> None:
    """A socket whose tick had ended would stay open, and hear of no lost ring any more."""
    with socket(live_server, session_of(alice)) as found, connections["owner"].cursor() as owner:
        watch(found, "inbox")
        owner.execute("REVOKE SELECT ON tenants_member FROM vermilion_app")
        try:
            assert closed_with(found) == 1013
        finally:
            owner.execute("GRANT SELECT ON tenants_member TO vermilion_app")


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"watch": "inbox"}', '{"watch": [1]}', "[" * 100_000])
def test_what_is_no_wish_closes_the_socket(live_server: Any, alice: Member, text: str) -> None:
    with socket(live_server, session_of(alice)) as found:
        found.send(text)
        assert closed_with(found) == 4400


def test_no_bell_rings_for_what_was_rolled_back(live_server: Any, alice: Member) -> None:
    def happen_and_fail() -> None:
        with scope(alice.tenant_id):
            live.ring("inbox", 13)
            raise ZeroDivisionError

    with socket(live_server, session_of(alice)) as found:
        watch(found, "inbox")
        time.sleep(0.3)
        with pytest.raises(ZeroDivisionError):
            happen_and_fail()
        assert not heard(found, "inbox", 13, 0.5)


def test_a_bell_that_cannot_ring_fails_nothing_and_holds_nobody_up(
    alice: Member, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live._ringer, "bell", live.Bell())
    live._ringer.bell.client = live.connection("redis://127.0.0.1:1")
    began = time.monotonic()
    happen(alice, 20)
    assert time.monotonic() - began < 2
    with scope(alice.tenant_id):
        assert events.last_seq(f"probe:{RUN}") == 20
