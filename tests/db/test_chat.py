"""Chat channels: told what waits and nothing more, through a process of its own that reaches nothing inside."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from approvals import channels, escalation
from approvals.models import Channel, Delivery
from approvals.notifications import chat, delivery, links
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import a_call, fresh, group, park, rule
from tests.db.test_escalation import hours_pass, levels
from tests.db.test_notifications import client_of, decide, later, rows, told
from tests.harness.outside import Receiver, serve, until

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def room(admin: Member, receiver: Receiver, name: str = "room", member: Member | None = None) -> channels.Made:
    with scope(admin.tenant_id):
        url = f"json://127.0.0.1:{receiver.port}/hook"
        return channels.add_chat(actor=actor(admin), kind="json", name=name, url=url, member=member)


def said(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for body in receiver.bodies]


def test_a_room_hears_what_waits_with_a_link_and_no_details(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    request = park(acme)
    assert receiver.got == []
    delivery.sweep()
    (message,) = said(receiver)
    assert "waits for your answer" in message["title"]
    words = json.dumps(message)
    assert "/t/acme/open/" in words
    for secret in ("1240", "A-1042", "broken", "Token"):
        assert secret not in words
    (row,) = rows(request, transport="chat")
    assert row.status == "sent"
    assert "notification.sent" in told(request)


def test_the_link_of_a_room_opens_the_page_to_members_and_decides_nothing(
    acme: Tenant, ravi: Member, alice: Member, stranger: Member, receiver: Receiver
) -> None:
    made = room(ravi, receiver)
    request = park(acme)
    path = links.for_room("acme", request=request.pk, channel=made.channel.pk).partition("/t/")[2]
    for _each in range(5):
        assert client_of(alice).get(f"/t/{path}").headers["Location"] == f"/t/acme/requests/{request.pk}/"
        assert client_of(alice).head(f"/t/{path}").status_code == 302
    assert client_of(alice).post(f"/t/{path}").status_code == 405
    assert client_of(stranger).get(f"/t/{path}").status_code == 404
    assert fresh(request).status == "pending"


def test_nothing_is_said_in_a_room_about_what_is_decided_already(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    request = park(acme)
    decide(request, alice)
    delivery.sweep()
    assert receiver.got == []
    assert [row.status for row in rows(request, transport="chat")] == ["given_up"]


def test_a_room_hears_the_kinds_that_were_chosen_for_it(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    made = room(ravi, receiver)
    with scope(acme.pk):
        channels.change(made.channel, actor=actor(ravi), changes={"kinds": ["nobody_left"]})
    park(acme)
    delivery.sweep()
    assert said(receiver) == []
    park(acme, a_call(initiators=(alice.pk,)))
    delivery.sweep()
    assert len(said(receiver)) == 1


def test_a_room_hears_a_raised_level_once(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver
) -> None:
    room(ravi, receiver)
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    hours_pass(request, 2)
    for _each in range(3):
        escalation.sweep()
        delivery.sweep()
    assert len(said(receiver)) == 2


def test_a_service_that_refuses_is_seen_and_escalates(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    made = room(ravi, receiver)
    receiver.how = 500
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    (row,) = rows(request, transport="chat")
    assert row.status == "pending"
    assert "did not take it: error 500" in row.error
    with scope(acme.pk):
        assert Channel.objects.get(pk=made.channel.pk).failures == 1
    hours_pass(request, 0.3)
    escalation.sweep()
    assert fresh(request).escalation_level == 1


def test_a_channel_that_was_switched_off_counts_as_not_reached(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    made = room(ravi, receiver)
    with scope(acme.pk):
        channels.change(made.channel, actor=actor(ravi), changes={"enabled": False})
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    assert rows(request) == []
    hours_pass(request, 0.3)
    escalation.sweep()
    assert fresh(request).escalation_level == 1


def test_what_a_room_took_counts_as_reached(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    room(ravi, receiver)
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    hours_pass(request, 0.3)
    escalation.sweep()
    assert fresh(request).escalation_level == 0


def test_a_persons_own_channel_tells_them_alone(
    acme: Tenant, ravi: Member, alice: Member, bo: Member, receiver: Receiver
) -> None:
    room(alice, receiver, member=alice)
    request = park(acme)
    delivery.sweep()
    assert [row.member_id for row in rows(request, transport="chat")] == [alice.pk]
    (message,) = said(receiver)
    path = message["message"].partition("/t/")[2].split()[0]
    assert client_of(alice).get(f"/t/{path}").status_code == 302
    assert client_of(bo).get(f"/t/{path}").status_code == 403


@pytest.mark.parametrize(("how", "why"), [(500, "error 500"), (403, "error 403"), ("cut", "nobody answers")])
def test_a_service_that_fails_says_why(receiver: Receiver, how: int | str, why: str) -> None:
    receiver.how = how
    (failure,) = chat.send([chat.Words(f"json://127.0.0.1:{receiver.port}/", "Title", "Words")])
    assert failure is not None
    assert why in failure.why


def test_a_service_that_hangs_is_left_and_its_process_ends(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "START", 2.0)
    monkeypatch.setattr(chat, "EACH", 1.0)
    receiver.how = "hang"
    (failure,) = chat.send([chat.Words(f"json://127.0.0.1:{receiver.port}/", "Title", "Words")])
    assert failure is not None
    assert failure.silent


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "[::1]", "2130706433"])
def test_no_address_of_a_service_leads_inside(receiver: Receiver, settings: Any, host: str) -> None:
    settings.OUTBOUND_NETWORKS = []
    (failure,) = chat.send([chat.Words(f"json://{host}:{receiver.port}/", "Title", "Words")])
    assert failure is not None
    assert "inside" in failure.why
    assert receiver.got == []


def test_a_redirect_inside_leads_nowhere(receiver: Receiver, settings: Any) -> None:
    """The service may be called; where it sends its caller may not."""
    receiver.how = "redirect"
    settings.OUTBOUND_NETWORKS = ["127.0.0.1/32"]
    (failure,) = chat.send([chat.Words(f"json://127.0.0.1:{receiver.port}/", "Title", "Words")])
    assert failure is not None
    assert len([1 for headers, _body in receiver.got if "content-type" in headers]) == 1


@pytest.mark.parametrize(
    "service",
    [
        f"workflows://127.0.0.1:{{port}}/{'a' * 32}/{'b' * 43}/",
        f"slack://T1JJ3T3L2/A1BRTD4JD/{'c' * 24}/",
        f"discord://{'1' * 18}/{'d' * 64}/",
        f"tgram://123456789:{'e' * 35}/1234/",
    ],
)
def test_no_address_of_a_service_reads_a_file_of_this_machine(receiver: Receiver, tmp_path: Path, service: str) -> None:
    """Whoever adds a channel of their own could else have any file sent to them, `template` by `template`."""
    held = tmp_path / "held.json"
    held.write_text('{"type": "message", "attachments": [{"contentType": "x", "content": "held"}]}')
    url = f"{service.format(port=receiver.port)}?template={held}"
    (failure,) = chat.send([chat.Words(url, "Title", "Words")])
    assert failure is not None
    assert "does not understand" in failure.why


def test_an_address_that_nothing_understands_is_said_to_be_so() -> None:
    (failure,) = chat.send([chat.Words("slack://", "Title", "Words")])
    assert failure is not None
    assert "does not understand" in failure.why


def test_web_and_workers_do_not_load_what_only_the_chat_process_needs() -> None:
    words = "import django; django.setup(); import approvals.tasks, config.urls, sys; print('apprise' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_test_of_a_channel_that_is_off_is_sent(acme: Tenant, ravi: Member, receiver: Receiver) -> None:
    made = room(ravi, receiver)
    with scope(acme.pk):
        row = channels.change(made.channel, actor=actor(ravi), changes={"enabled": False})
        sent = channels.trial(row, actor=actor(ravi))
    delivery.sweep()
    with scope(acme.pk):
        assert Delivery.objects.get(pk=sent.pk).status == "sent"
    assert "try whether it arrives" in said(receiver)[0]["message"]


def test_a_message_that_waited_for_all_processes_to_start_again_still_leads_to_the_request(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    """Nothing about a link lives in a process: what another one signed under the same key opens."""
    room(ravi, receiver)
    request = park(acme)
    later()
    delivery.sweep()
    path = said(receiver)[0]["message"].partition("/t/")[2].split()[0]
    assert client_of(alice).get(f"/t/{path}").headers["Location"] == f"/t/acme/requests/{request.pk}/"


def test_several_messages_leave_through_one_process(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    run = chat._run

    def counted(words: str, *, patience: float) -> Any:
        started.append(len(json.loads(words)["messages"]))
        return run(words, patience=patience)

    monkeypatch.setattr(chat, "_run", counted)
    room(ravi, receiver)
    for _number in range(7):
        park(acme)
    delivery.sweep()
    assert started == [5, 2]
    assert len(receiver.got) == 7


def test_what_was_sent_before_the_process_ended_counts_as_sent(receiver: Receiver) -> None:
    stuck = Receiver(how="hang")
    server = serve(stuck)
    words = [chat.Words(f"json://127.0.0.1:{each.port}/", "Title", "Words") for each in (receiver, stuck, receiver)]
    try:
        with ThreadPoolExecutor(1) as pool:
            told = pool.submit(chat.send, words)
            until(lambda: stuck.got, seconds=60)
            subprocess.run(["pkill", "-KILL", "-P", str(os.getpid()), "-f", "chat_process"], check=True)
            first, second, third = told.result(60)
    finally:
        stuck.released.set()
        server.shutdown()
        server.server_close()
    assert first is None
    assert second is not None
    assert third is not None
    assert "ended without an answer" in third.why
