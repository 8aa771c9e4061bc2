"""Notices: told once, after commit, to whom they concern; failures are seen, and never in the way."""

import re
import socket
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.db import connections
from django.test import Client

from approvals import decisions, escalation
from approvals.models import ApprovalRequest, Delivery
from approvals.notifications import delivery, links
from tenants import events, ids
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule
from tests.db.test_escalation import hours_pass, levels

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class Server:
    """A real SMTP server: keeps what it takes, refuses the addresses it is told to."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, str]] = []
        self.refuse: dict[str, str] = {}

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append((envelope.rcpt_tos[0], envelope.content.decode()))
        return "250 taken"

    def of(self, member: Member) -> list[str]:
        return [text for address, text in self.mails if address == member.email]


@pytest.fixture
def post(settings: Any) -> Iterator[Server]:
    server = Server()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(server, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    yield server
    controller.stop()


def decide(request: ApprovalRequest, member: Member, decision: str = "approve", **sent: Any) -> None:
    decisions.decide(
        request.pk,
        tenant=request.tenant_id,
        actor=actor(member),
        decision=decision,
        version=sent.pop("version", 1),
        channel="api",
        **sent,
    )


def rows(request: ApprovalRequest, **having: Any) -> list[Delivery]:
    with scope(request.tenant_id):
        return list(Delivery.objects.filter(request=request, **having).order_by("created_at", "id"))


def later() -> None:
    """Everything that waits is due now."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE approvals_delivery SET due_at = now() WHERE due_at IS NOT NULL")


def told(request: ApprovalRequest) -> list[str]:
    with scope(request.tenant_id):
        return [each.name for each in events.after(request.subject, 0, 200) if each.name.startswith("notification.")]


def test_those_who_are_asked_are_told_once(post: Server, acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    request = park(acme, a_call(initiators=(bo.pk,)))
    assert post.mails == []
    for _number in range(5):
        delivery.sweep()
        escalation.handle(acme.pk, request.pk)
    assert [address for address, _ in post.mails] == [alice.email]
    assert told(request) == ["notification.sent"]
    assert [row.status for row in rows(request)] == ["sent"]


def test_a_message_keeps_details_behind_the_sign_in(post: Server, acme: Tenant, alice: Member) -> None:
    park(acme, a_call(tool_title="Ref\u202eund"))
    delivery.sweep()
    (text,) = post.of(alice)
    assert "1240" not in text
    assert "A-1042" not in text
    assert "The order arrived broken" not in text
    assert "\u202e" not in text
    assert "text/plain" in text
    assert "text/html" in text
    assert "/t/acme/open/" in text.replace("=\r\n", "")


def test_a_message_speaks_the_persons_language(post: Server, acme: Tenant, alice: Member) -> None:
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(timezone="Asia/Tokyo")
    park(acme)
    delivery.sweep()
    assert "Asia/Tokyo" in post.of(alice)[0]


def test_a_subject_tells_which_of_many_and_the_page_has_the_same_reference(
    post: Server, acme: Tenant, alice: Member
) -> None:
    asked = [park(acme, a_call(tool_title="退款" * 12, run={"title": "Maja Lindqvist"})) for _ in range(2)]
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    delivery.sweep()
    subjects = {read(mail)[0] for mail in post.of(alice)}
    client = Client()
    client.force_login(alice.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    act = "退款" * 12
    assert subjects == {f"{act} 等待您的答复 · refund-desk · {ids.reference(each.pk)} · Acme" for each in asked}
    assert len(subjects) == 2
    for each in asked:
        assert f"请求 {ids.reference(each.pk)}" in client.get(f"/t/acme/requests/{each.pk}/").text
    assert not any("Lindqvist" in part for mail in post.of(alice) for part in read(mail))


def read(mail: str) -> tuple[str, str, str]:
    """The subject and both texts of a mail, decoded."""
    told = message_from_bytes(mail.encode(), policy=default)
    plain, html = told.get_body(("plain",)), told.get_body(("html",))
    assert plain is not None
    assert html is not None
    return str(told["subject"]), plain.get_content(), html.get_content()


def test_each_person_is_written_to_in_their_own_language(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    park(acme)
    delivery.sweep()
    hers, his = read(post.of(alice)[0]), read(post.of(bo)[0])
    for mine, other in zip(hers, his, strict=True):
        assert re.search("[\u4e00-\u9fff]", mine)
        assert not re.search("[\u4e00-\u9fff]", other)
        assert "waits for your answer" not in mine
    assert "waits for your answer" in his[0]
    assert re.search(r"风险：[低中高]|风险：严重", hers[1])
    assert re.search(r"\d{4} 年 \d{1,2} 月 \d{1,2} 日 \d\d:\d\d", hers[1])


def test_a_mail_is_in_the_tenants_language_where_the_person_chose_none(
    post: Server, acme: Tenant, alice: Member
) -> None:
    acme.locale = "zh-hans"
    acme.save()
    park(acme)
    delivery.sweep()
    assert all(re.search("[\u4e00-\u9fff]", part) for part in read(post.of(alice)[0]))


def test_nothing_is_said_about_what_is_decided_already(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme)
    decide(request, alice)
    delivery.sweep()
    assert post.mails == []
    assert {row.status for row in rows(request)} == {"given_up"}
    assert told(request) == []


def test_a_mail_server_that_is_down_hinders_nothing(post: Server, acme: Tenant, alice: Member, settings: Any) -> None:
    settings.EMAIL_PORT = 1
    request = park(acme)
    delivery.sweep()
    (row,) = rows(request)
    assert row.status == "pending"
    assert "refused" in row.error
    assert told(request) == ["notification.failed"]
    decide(request, alice)
    assert fresh(request).status == "approved"


def test_a_message_is_tried_again_later(post: Server, acme: Tenant, alice: Member, settings: Any) -> None:
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    request = park(acme)
    delivery.sweep()
    settings.EMAIL_PORT = port
    assert delivery.sweep() == 0
    later()
    delivery.sweep()
    assert [row.status for row in rows(request)] == ["sent"]
    assert told(request) == ["notification.failed", "notification.sent"]


def test_an_address_that_is_refused_is_given_up_with_its_reason(post: Server, acme: Tenant, alice: Member) -> None:
    post.refuse[alice.email] = "550 no such mailbox"
    request = park(acme)
    delivery.sweep()
    (row,) = rows(request)
    assert (row.status, row.error) == ("given_up", "550 no such mailbox")
    assert told(request) == ["notification.failed"]


def test_a_claim_that_lapsed_is_sent_by_another(post: Server, acme: Tenant, alice: Member) -> None:
    request = park(acme)
    (row,) = rows(request)
    first = delivery.claim(acme.pk, row.pk)
    assert first is not None
    assert delivery.claim(acme.pk, row.pk) is None
    later()
    second = delivery.claim(acme.pk, row.pk)
    assert second is not None
    delivery.record(second, None)
    delivery.record(first, delivery.Failure("too late"))
    assert [each.status for each in rows(request)] == ["sent"]


def test_an_edit_tells_those_whose_vote_lapsed(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(risk="critical"))
    decide(request, alice)
    decide(request, bo, "edit", arguments={**ARGUMENTS, "amount": "1.00"})
    delivery.sweep()
    assert any("no longer counts" in text.replace("=\r\n", "") for text in post.of(alice))
    assert not any("no longer counts" in text.replace("=\r\n", "") for text in post.of(bo))


def test_the_requester_hears_how_it_ended(post: Server, acme: Tenant, alice: Member) -> None:
    quin = make_member(acme, "Quin")
    request = park(acme, a_call(initiators=(quin.pk,)))
    decide(request, alice, "reject", comment="No.")
    delivery.sweep()
    (text,) = post.of(quin)
    assert "was rejected" in text


def test_the_requester_of_what_was_edited_hears_so_and_is_not_told_to_answer(
    post: Server, acme: Tenant, alice: Member, bo: Member
) -> None:
    quin, chen = make_member(acme, "Quin"), make_member(acme, "Chen")
    with scope(acme.pk):
        Member.objects.filter(pk=chen.pk).update(locale="zh-hans")
    request = park(acme, a_call(initiators=(quin.pk, chen.pk)))
    decide(request, alice, "edit", arguments={**ARGUMENTS, "amount": "1.00"})
    delivery.sweep()
    subject, *texts = read(post.of(quin)[0])
    assert "was approved as edited" in subject
    for text in texts:
        assert "The link opens the page once you have signed in." in text
        assert "answer there" not in text
    subject, *texts = read(post.of(chen)[0])
    assert "已修改并批准" in subject
    for text in texts:
        assert "登录后，链接会打开页面。" in text
        assert "作答" not in text


def test_those_who_are_asked_are_told_that_they_answer_on_the_page(post: Server, acme: Tenant, alice: Member) -> None:
    park(acme)
    delivery.sweep()
    assert all("you sign in and answer there" in text for text in read(post.of(alice)[0])[1:])


def test_a_level_tells_its_people_once_and_repeats_are_bounded(
    post: Server, acme: Tenant, alice: Member, bo: Member
) -> None:
    group(acme, "Refunds", alice)
    chain = levels(acme, (3600, [group(acme, "Leads", bo)]), repeats=1)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=chain)
    request = park(acme)
    for _number in range(6):
        hours_pass(request, 1)
        escalation.sweep()
        delivery.sweep()
    assert len(post.of(bo)) == 2
    assert len(post.of(alice)) == 2


def test_the_end_of_the_time_is_announced_once(post: Server, acme: Tenant, alice: Member) -> None:
    request = park(acme)
    delivery.sweep()
    hours_pass(request, 22)
    for _number in range(3):
        escalation.sweep()
        escalation.handle(acme.pk, request.pk)
        delivery.sweep()
    assert len(post.of(alice)) == 2
    assert "time to answer ends soon" in post.of(alice)[1]


def test_a_request_that_nobody_saw_raises_its_level(acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    hours_pass(request, 0.3)
    escalation.sweep()
    with scope(acme.pk):
        found = [each.data for each in events.after(request.subject, 0, 50) if each.name == "approval.escalated"]
    assert [each["because"] for each in found] == ["unseen"]


def test_what_was_delivered_is_waited_for(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    hours_pass(request, 0.3)
    escalation.sweep()
    assert fresh(request).escalation_level == 0


def test_a_tenant_may_want_no_mail(post: Server, acme: Tenant, alice: Member) -> None:
    acme.notifications = {"email": False}
    acme.save()
    request = park(acme)
    assert rows(request) == []


def test_admins_hear_of_a_rule_that_could_not_be_evaluated_once(
    post: Server, acme: Tenant, alice: Member, ravi: Member
) -> None:
    rule(acme, alice, when="args.unheard > 1")
    request = park(acme)
    assert [(row.kind, row.member_id) for row in rows(request, kind="not_evaluable")] == [("not_evaluable", ravi.pk)]


def client_of(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def test_the_link_opens_the_page_and_decides_nothing(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme)
    path = links.address("acme", request=request.pk, member=alice.pk).partition("/t/")[2]
    for _number in range(5):
        for verb in ("get", "head"):
            response = getattr(Client(), verb)(f"/t/{path}")
            assert response.status_code == 302
            assert "/accounts/login/" in response.headers["Location"]
    assert fresh(request).status == "pending"
    assert client_of(alice).get(f"/t/{path}").headers["Location"] == f"/t/acme/requests/{request.pk}/"
    assert client_of(alice).post(f"/t/{path}").status_code == 405
    assert client_of(bo).get(f"/t/{path}").status_code == 403
    assert client_of(alice).get(f"/t/{path[:-2]}x/").status_code == 404


def test_a_link_expires(acme: Tenant, alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    request = park(acme)
    path = links.address("acme", request=request.pk, member=alice.pk).partition("/t/")[2]
    monkeypatch.setattr(links, "AGE", -1)
    assert client_of(alice).get(f"/t/{path}").status_code == 404
