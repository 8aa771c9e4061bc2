"""A message to the workers is a hint: it goes on commit, and a broker that is away holds nobody up."""

import socket
import time
from collections.abc import Iterator

import pytest
from celery import current_app
from django.conf import settings
from django.db import transaction

from tenants import broker
from tenants.models import Tenant
from tenants.scope import scope

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def deaf() -> Iterator[str]:
    """The address of a server that takes a connection and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def waiting() -> int:
    broker.flush()
    with current_app.connection_for_read() as connection:
        return int(connection.default_channel.client.llen("celery"))


def drop_connections() -> None:
    """Ends every connection to this broker but the one that asks; those to its other databases are other tests'."""
    with current_app.connection_for_read() as connection:
        valkey = connection.default_channel.client
        me = valkey.client_id()
        here = str(valkey.connection_pool.connection_kwargs["db"])
        dropped = [
            valkey.client_kill_filter(_id=each["id"])
            for each in valkey.client_list()
            if each["db"] == here and each["id"] != str(me)
        ]
    assert dropped, "the connection of the first message"


def test_a_message_goes_on_commit_and_not_before(acme: Tenant) -> None:
    before = waiting()
    with scope(acme.pk):
        broker.publish("runs.tasks.advance", acme.pk, acme.pk)
        assert waiting() == before
    assert waiting() == before + 1


def test_what_was_rolled_back_sends_nothing(acme: Tenant) -> None:
    before = waiting()
    with scope(acme.pk):
        broker.publish("runs.tasks.advance", acme.pk, acme.pk)
        transaction.set_rollback(True)
    assert waiting() == before


@pytest.mark.parametrize("refused", [True, False], ids=["refuses", "is silent"])
def test_a_broker_that_is_away_is_given_up_after_a_second(
    acme: Tenant, deaf: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "redis://127.0.0.1:1/0" if refused else deaf
    monkeypatch.setattr(settings, "BROKER_URL", url)
    monkeypatch.setattr(broker, "_post", broker.Post())
    began = time.monotonic()
    for _ in range(20):
        with scope(acme.pk):
            broker.publish("runs.tasks.advance", acme.pk, acme.pk)
    broker.flush()
    assert time.monotonic() - began < (1.0 if refused else 2.5)


def test_a_silent_broker_holds_up_nobody_who_publishes(
    acme: Tenant, deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "BROKER_URL", deaf)
    monkeypatch.setattr(broker, "_post", broker.Post())
    broker.publish("runs.tasks.advance", acme.pk, acme.pk)
    broker.publish("runs.tasks.advance", acme.pk, acme.pk)
    assert not broker._post.silent_until, "the first message is still being given up"


def test_a_broker_that_came_back_anew_takes_the_next_message(acme: Tenant) -> None:
    broker.publish("runs.tasks.advance", acme.pk, acme.pk)
    broker.flush()
    drop_connections()
    before = waiting()
    broker.publish("runs.tasks.advance", acme.pk, acme.pk)
    assert waiting() == before + 1
