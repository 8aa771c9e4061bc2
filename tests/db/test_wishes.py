"""How people wish to be told: by which ways, together, and not at night; nothing about what is decided."""

from datetime import UTC, datetime
from typing import Any

import pytest

from approvals import escalation, wishes
from approvals.models import Delivery
from approvals.notifications import delivery, outbox
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.requests import a_call, group, park, rule
from tests.db.test_escalation import hours_pass, levels
from tests.db.test_notifications import Server, decide, later, post, read, rows, told

__all__ = ["post"]
pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def wish(member: Member, **changes: Any) -> None:
    with scope(member.tenant_id):
        wishes.change(member, actor=actor(member), changes=changes)


def always() -> dict[str, str]:
    """Quiet hours that cover this moment and the hours around it."""
    hour = datetime.now(UTC).hour
    return {"from": f"{(hour - 3) % 24:02}:00", "until": f"{(hour + 3) % 24:02}:00"}


def test_what_a_person_does_not_want_is_not_sent(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    wish(alice, kinds={"asked": {"email": False}})
    park(acme)
    delivery.sweep()
    assert [address for address, _text in post.mails] == [bo.email]


def test_several_notices_leave_in_one_mail(post: Server, acme: Tenant, alice: Member) -> None:
    wish(alice, digest="hourly")
    requests = [park(acme) for _number in range(3)]
    delivery.sweep()
    assert post.mails == []
    later()
    delivery.sweep()
    (mail,) = post.of(alice)
    subject, plain, html = read(mail)
    assert subject == "3 notices · Refund · Acme"
    assert plain.count("/t/acme/open/") == html.count("/t/acme/open/") == 3
    assert "1240" not in plain + html
    for request in requests:
        assert [row.status for row in rows(request)] == ["sent"]
        assert told(request) == ["notification.sent"]


def test_a_digest_says_nothing_of_what_is_decided(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    wish(alice, digest="daily")
    first, second = park(acme), park(acme)
    decide(first, bo)
    later()
    delivery.sweep()
    (mail,) = post.of(alice)
    assert read(mail)[1].count("/t/acme/open/") == 1
    assert [row.status for row in rows(first, member=alice)] == ["given_up"]
    assert [row.status for row in rows(second, member=alice)] == ["sent"]


def test_a_digest_that_fails_is_tried_again_whole(post: Server, acme: Tenant, alice: Member, settings: Any) -> None:
    wish(alice, digest="hourly")
    requests = [park(acme) for _number in range(2)]
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 1
    later()
    delivery.sweep()
    assert [row.status for request in requests for row in rows(request)] == ["pending"] * 2
    settings.EMAIL_PORT = port
    later()
    delivery.sweep()
    assert len(post.of(alice)) == 1
    assert [row.status for request in requests for row in rows(request)] == ["sent"] * 2


def test_a_night_is_quiet(post: Server, acme: Tenant, alice: Member) -> None:
    wish(alice, quiet=always())
    request = park(acme)
    delivery.sweep()
    assert post.mails == []
    (row,) = rows(request)
    assert row.due_at is not None
    assert row.due_at > datetime.now(UTC)
    later()
    delivery.sweep()
    assert len(post.of(alice)) == 1


def test_what_cannot_wait_comes_at_night(post: Server, acme: Tenant, alice: Member) -> None:
    wish(alice, quiet=always(), digest="daily")
    park(acme, a_call(risk="critical"))
    delivery.sweep()
    assert len(post.of(alice)) == 1


def test_a_raised_level_comes_at_night(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    wish(bo, quiet=always())
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (3600, [group(acme, "Leads", bo)])))
    request = park(acme)
    hours_pass(request, 2)
    escalation.sweep()
    delivery.sweep()
    assert len(post.of(bo)) == 1


def test_a_deadline_that_comes_before_the_morning_does_not_wait_for_it(
    post: Server, acme: Tenant, alice: Member
) -> None:
    wish(alice, quiet=always())
    rule(acme, alice, response_timeout=1800)
    park(acme)
    delivery.sweep()
    assert len(post.of(alice)) == 1


def test_whoever_sleeps_is_not_waited_for(post: Server, acme: Tenant, alice: Member, bo: Member) -> None:
    """A notice that waits for the morning has reached nobody: the next level is asked."""
    wish(alice, quiet=always())
    group(acme, "Refunds", alice)
    rule(acme, alice, of=[{"group": "Refunds"}], escalation_policy=levels(acme, (20000, [group(acme, "Leads", bo)])))
    request = park(acme)
    delivery.sweep()
    hours_pass(request, 0.3)
    escalation.sweep()
    delivery.sweep()
    assert len(post.of(bo)) == 1
    assert request.pk


def test_a_message_to_an_admin_about_shortage_reaches_nobody_who_is_asked(
    post: Server, acme: Tenant, ravi: Member
) -> None:
    request = park(acme)
    delivery.sweep()
    assert len(post.of(ravi)) == 1
    with scope(acme.pk):
        assert not outbox.reached(request)


def test_the_end_of_a_run_of_mine_can_wait(post: Server, acme: Tenant, alice: Member) -> None:
    quin = make_member(acme, "Quin")
    wish(quin, digest="hourly")
    request = park(acme, a_call(initiators=(quin.pk,)))
    decide(request, alice, "reject", comment="No.")
    delivery.sweep()
    assert post.of(quin) == []
    later()
    delivery.sweep()
    assert "was rejected" in read(post.of(quin)[0])[0]
    again = [park(acme, a_call(initiators=(quin.pk,))) for _number in range(2)]
    for each in again:
        decide(each, alice, "reject", comment="No.")
    later()
    delivery.sweep()
    for text in read(post.of(quin)[1])[1:]:
        assert "Each link opens a page once you have signed in." in text
        assert "answer there" not in text


def test_a_test_goes_to_ones_own_address(post: Server, acme: Tenant, alice: Member) -> None:
    wish(alice, quiet=always(), digest="daily", kinds={"asked": {"email": False}})
    with scope(acme.pk):
        row = outbox.try_mail(alice)
    delivery.sweep()
    assert len(post.of(alice)) == 1
    with scope(acme.pk):
        assert Delivery.objects.get(pk=row.pk).status == "sent"
