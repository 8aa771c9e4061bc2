"""A sender that is killed, and two that send at the same time: a message arrives at least once, under one id."""

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from approvals import channels
from approvals.models import Delivery
from approvals.notifications import delivery
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import park
from tests.db.test_webhooks import later
from tests.harness.outside import Receiver
from tests.harness.workers import database_url

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]

DIES = """
import os, signal, sys
from uuid import UUID
import django
django.setup()
from approvals.notifications import delivery, parcels
claimed = delivery.claim(UUID(sys.argv[1]), UUID(sys.argv[2]))
assert parcels.send([claimed.parcel]) == [None]
os.kill(os.getpid(), signal.SIGKILL)
"""
SWEEPS = """
import django
django.setup()
from approvals.notifications import delivery
print("ready", flush=True)
input()
while delivery.sweep():
    pass
"""


def started(words: str, *arguments: str) -> "subprocess.Popen[str]":
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": database_url("senders"),
        "OUTBOUND_NETWORKS": "127.0.0.0/8",
    }
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", words, *arguments], env=env, **pipes)


def hook(admin: Member, receiver: Receiver) -> None:
    with scope(admin.tenant_id):
        channels.add_webhook(actor=actor(admin), url=receiver.url, events=["approval.requested"])


def test_one_that_is_killed_after_sending_leaves_it_to_another_under_the_same_id(
    acme: Tenant, ravi: Member, receiver: Receiver
) -> None:
    hook(ravi, receiver)
    park(acme)
    with scope(acme.pk):
        row = Delivery.objects.get(transport="webhook")
    process = started(DIES, str(acme.pk), str(row.pk))
    assert process.communicate(timeout=60) == ("", None)
    assert process.returncode == -9
    assert len(receiver.got) == 1
    with scope(acme.pk):
        row.refresh_from_db()
        assert (row.status, row.attempts) == ("sending", 1)
    delivery.sweep()
    assert len(receiver.got) == 1, "its claim holds for a while"
    later()
    delivery.sweep()
    assert [headers["webhook-id"] for headers, _body in receiver.got] == [f"msg_{row.pk.hex}"] * 2
    with scope(acme.pk):
        row.refresh_from_db()
        assert (row.status, row.attempts) == ("sent", 2)


def test_two_schedulers_send_each_message_once(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    hook(ravi, receiver)
    for _number in range(40):
        park(acme)
    senders = [started(SWEEPS) for _each in range(2)]
    for sender in senders:
        assert sender.stdout is not None
        assert sender.stdout.readline() == "ready\n"
    for sender in senders:
        assert sender.stdin is not None
        sender.stdin.write("\n")
        sender.stdin.flush()
    for sender in senders:
        sender.communicate(timeout=120)
    told = Counter(headers["webhook-id"] for headers, _body in receiver.got)
    assert len(told) == 40
    assert set(told.values()) == {1}
