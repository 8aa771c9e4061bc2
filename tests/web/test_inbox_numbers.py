"""The numbers beside the views of the inbox: what asks the reader, or a group of theirs, ends soon, is critical."""

import re

import pytest

from tenants import agents
from tenants.actors import COMMAND
from tenants.models import AgentAccess, Member, Tenant
from tenants.scope import current, scope
from tests.cast.request_pages import browser, text
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule
from tests.db.test_escalation import decide, hours_pass

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def numbers(member: Member) -> list[int]:
    """Asked of me, my groups, within the hour, critical; each is how many its view lists."""
    page = text(browser(member).get("/t/acme/inbox/"))
    found = [int(number) for number in re.findall(r'class="chip"[^>]*>[^<]*<span class="num">(\d+)<', page)]
    listed = [_listed(member, view) for view in ("mine", "groups", "hour", "critical")]
    assert found == listed
    return found


def _listed(member: Member, view: str) -> int:
    page = text(browser(member).get(f"/t/acme/inbox/?view={view}"))
    return len(set(re.findall(r"/t/acme/requests/([0-9a-f-]{36})/", page)))


def test_each_number_is_what_its_view_lists(acme: Tenant, alice: Member, bo: Member, mona: Member) -> None:
    soon, _other = park(acme), park(acme)
    hours_pass(soon, 23.5)
    park(acme, a_call(risk="critical"))
    decide(park(acme), bo)
    rule(acme, alice, of=[{"member": bo.email}])
    park(acme)
    assert (numbers(alice), numbers(bo)) == ([3, 3, 1, 1], [4, 4, 1, 1])
    group(acme, "Finance", alice, bo)
    assert numbers(alice) == [3, 4, 1, 1]
    assert fresh(soon).status == "pending"


def test_what_asks_a_fellow_about_an_agent_that_is_shut_is_not_counted(acme: Tenant, alice: Member, bo: Member) -> None:
    group(acme, "Finance", alice, bo)
    rule(acme, alice, of=[{"member": bo.email}])
    park(acme)
    assert numbers(alice)[1] == 1
    with scope(acme.pk):
        AgentAccess.objects.create(tenant_id=current(), agent="refund-desk", enabled=True, restricted=True)
    assert numbers(alice)[1] == 0


@pytest.mark.parametrize("view", ["hour", "critical"])
def test_a_view_that_is_empty_says_how_many_others_wait_and_leads_to_them(
    acme: Tenant, alice: Member, view: str
) -> None:
    park(acme), park(acme)
    page = text(browser(alice).get(f"/t/acme/inbox/?view={view}"))
    assert "Nothing of this kind waits for you" in page
    assert '2 other requests wait for you. <a href="/t/acme/inbox/">Show all</a>' in page
    assert "Nothing waits for you" not in page
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    assert "另有 2 个请求等待您。" in text(browser(alice).get(f"/t/acme/inbox/?view={view}"))


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("alice", "You are told when something comes."),
        ("ravi", "As an admin you are asked, and told of it, only where a rule cannot be evaluated."),
        ("mona", "Only reviewers are asked, and you are not one, so nothing comes here. An admin gives that role."),
    ],
)
def test_only_whom_something_can_come_to_is_promised_to_be_told(
    acme: Tenant, request: pytest.FixtureRequest, who: str, said: str
) -> None:
    member = request.getfixturevalue(who)
    with scope(acme.pk):
        agents.switch("refund-desk", actor=COMMAND, enabled=True)
    page = text(browser(member).get("/t/acme/inbox/"))
    assert said in page
    assert ("You are told when something comes." in page) == (who == "alice")


def test_a_view_is_as_empty_as_the_inbox_where_nothing_else_waits(acme: Tenant, alice: Member) -> None:
    decide(park(acme), alice)
    with scope(acme.pk):
        agents.switch("refund-desk", actor=COMMAND, enabled=True)
    assert "Nothing waits for you" in text(browser(alice).get("/t/acme/inbox/?view=critical"))


def test_what_has_the_readers_vote_is_said_to_wait_for_others(acme: Tenant, alice: Member, bo: Member) -> None:
    rule(acme, bo, approvals=2)
    mine, _other, third = park(acme), park(acme), park(acme)
    decide(mine, alice)
    decide(third, bo)
    page = text(browser(alice).get("/t/acme/inbox/"))
    assert numbers(alice) == [3, 3, 0, 0]
    assert "3</span>, 1 waits for others</a>" in page
    assert re.search(r"<title>\s*Inbox \(2\)", page)
    assert re.findall(r'id="count-inbox(?:-top)?">(\d+)<', page) == ["2", "2"]
    assert "2 other requests wait for you." in text(browser(alice).get("/t/acme/inbox/?view=hour"))


def test_a_vote_for_a_version_that_was_edited_since_counts_no_longer(acme: Tenant, alice: Member, bo: Member) -> None:
    rule(acme, bo, approvals=2)
    request = park(acme)
    decide(request, alice)
    decide(request, bo, "edit", arguments={**ARGUMENTS, "amount": "40.00"})
    page = text(browser(alice).get("/t/acme/inbox/"))
    assert "for others" not in page
    assert re.search(r"<title>\s*Inbox \(1\)", page)
    assert "1</span>, 1 waits for others</a>" in text(browser(bo).get("/t/acme/inbox/"))
