"""What scanners of mail and chat do to links: they follow each, over and over, and nothing comes of it."""

import re
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from approvals import channels, escalation
from approvals.notifications import delivery, health, outbox
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.requests import a_call, fresh, group, park, rule
from tests.db.test_chat import room, said
from tests.db.test_escalation import hours_pass, levels
from tests.db.test_notifications import Server, client_of, decide, post
from tests.harness.outside import Receiver

__all__ = ["post"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
KEPT = (
    "approvals_approvalrequest",
    "approvals_review",
    "approvals_asked",
    "approvals_viewing",
    "approvals_delivery",
    "approvals_channel",
    "tenants_event",
    "tenants_auditentry",
    "tenants_member",
)


def state() -> list[Any]:
    """Everything that an answer, a look or a sign-in could change."""
    with connections["owner"].cursor() as cursor:
        found = []
        for table in KEPT:
            cursor.execute(f"SELECT md5(coalesce(string_agg(t::text, '' ORDER BY t::text), '')) FROM {table} t")
            found.append((table, cursor.fetchone()[0]))
        return found


def links_in(texts: list[str]) -> set[str]:
    joined = "\n".join(texts).replace("=\n", "").replace("=3D", "=")
    return {path.rstrip('".') for path in re.findall(r"https?://[^/\s\"]+(/[^\s\"<>]*)", joined)}


def test_every_link_of_every_message_is_followed_and_nothing_changes(
    post: Server, acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    open_, closed = park(acme), park(acme, a_call(initiators=(bo.pk,)))
    delivery.sweep()
    decide(closed, alice)
    hours_pass(open_, 22)
    escalation.sweep()
    with scope(acme.pk):
        outbox.try_mail(alice)
        health.switch_off(channels.named("room"), because="error 500")
    delivery.sweep()
    found = links_in([text for _to, text in post.mails] + [each["message"] for each in said(receiver)])
    assert len([path for path in found if "/open/" in path]) >= 4
    assert any(path.endswith("/settings/channels/") for path in found)
    clients = [Client(), *map(client_of, (alice, bo, ravi))]
    before = state()
    for client in clients:
        for path in found:
            for _each in range(5):
                assert client.get(path).status_code in (200, 302, 403, 404)
                assert client.head(path).status_code in (200, 302, 403, 404)
    assert state() == before
    assert fresh(open_).status == "pending"
    page = f"/t/acme/requests/{open_.pk}/"
    assert page in {client_of(alice).get(each).headers.get("Location") for each in found if "/open/" in each}
    answer = {"decision": "approve", "version": "1"}
    assert "/accounts/login/" in Client().post(f"{page}decide/", answer).headers["Location"]
    assert fresh(open_).status == "pending"
    client_of(alice).post(f"{page}decide/", answer)
    assert fresh(open_).status == "approved"
