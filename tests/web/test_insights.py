"""The page of insights: what it counts, that each number leads to what it counts, its cost, and who may read it."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from approvals import acts, measuring
from approvals.measuring import Settling, Span
from approvals.models import ApprovalRequest, Viewing
from runs import commands
from tenants import agents
from tenants.actors import COMMAND
from tenants.models import Event, Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.plays import Play
from tests.cast.requests import a_call, group, park, rule
from tests.cast.runs import decide
from tests.harness.database import owner

Pages = Callable[[str], str]


@pytest.fixture
def page(mona: Member) -> Pages:
    """The page as Mona reads it, a manager."""
    client = Client()
    client.force_login(mona.person, backend="allauth.account.auth_backends.AuthenticationBackend")

    def read(query: str = "") -> str:
        response = client.get(query if query.startswith("/") else f"/t/acme/insights/{query}")
        assert response.status_code == 200, response.content.decode()[-2000:]
        return unescape(response.content.decode())

    return read


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.replace("<wbr>", "")))


def facts(html: str) -> dict[str, str]:
    """The numbers at a glance, by their labels."""
    found = re.findall(
        r"<dt>([^<]+)</dt><dd class=\"num\">(.*?)</dd>", html.split('class="facts paired"')[1].split("</dl>")[0]
    )
    return {label: words(value).strip() for label, value in found}


def look(member: Member, request: ApprovalRequest, *, seconds: float) -> None:
    """The member had the request on the screen for so long when they answered."""
    acts.view(request.pk, tenant=member.tenant_id, actor=actor(member))
    with scope(member.tenant_id):
        Viewing.objects.filter(request=request, member=member).update(since=timezone.now() - timedelta(seconds=seconds))


@pytest.fixture
def asked(acme: Tenant, alice: Member, bo: Member, mona: Member) -> list[ApprovalRequest]:
    """Five of the finance group's refunds: approved in a second, rejected after a minute, edited, turned, open."""
    finance = group(acme, "Finance", alice, bo)
    rule(
        acme,
        mona,
        "Refunds",
        tools=["refund"],
        outcome="require_approval",
        approvals=2,
        of=[{"group": str(finance.pk)}],
    )
    rule(acme, mona, "Mail", tools=["send_email"], outcome="require_approval", approvals=1)
    made = [park(acme) for _ in range(3)] + [park(acme, a_call(tool="send_email", risk="medium")) for _ in range(2)]
    look(alice, made[0], seconds=60)
    decide(alice, made[0], "reject", comment="no")
    look(alice, made[1], seconds=1)
    decide(alice, made[1])
    decide(bo, made[1], "reject", comment="no")
    look(bo, made[3], seconds=10)
    decide(bo, made[3])
    return made


def test_it_counts_what_was_asked_and_how_it_was_answered(page: Pages, asked: list[ApprovalRequest]) -> None:
    html = page("")
    found = facts(html)
    assert found["Asked"].startswith("5 ")
    assert found["Turned around"].startswith("1 ")
    assert (found["Nobody answered"][0], found["Edited"]) == ("0", "0")
    assert "refund 3" in words(html)
    assert "send_email 2" in words(html)
    assert "Finance 3" in words(html)


def test_every_number_that_is_a_link_opens_what_it_counts(page: Pages, asked: list[ApprovalRequest]) -> None:
    cells = re.findall(r'<a href="(/t/acme/decided/[^"]+)">(\d+)</a>', page(""))
    assert cells
    for url, count in cells:
        assert len(re.findall(r'<th scope="row"><a href="/t/acme/requests/', page(url))) == int(count), url


def test_what_waits_is_told_by_the_groups_it_waits_for(page: Pages, asked: list[ApprovalRequest]) -> None:
    html = page("")
    waiting = html.split("Waiting now")[1].split("</table>")[0]
    assert "Finance 2" in words(waiting)
    assert "Alice" not in html.split("<main")[1]


def test_hasty_answers_of_a_group_are_pointed_at(
    page: Pages, acme: Tenant, alice: Member, bo: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    group(acme, "Platform", alice)
    for _ in range(20):
        request = park(acme)
        look(alice, request, seconds=1)
        decide(alice, request)
    html = words(page(""))
    assert "Platform 20 100 % 0 % 0 % Look here. 20 answers, none refused, most unread" in html
    assert "Of 20 requests for refund none was refused or edited." in html


def test_a_group_with_few_answers_is_left_out(page: Pages, asked: list[ApprovalRequest]) -> None:
    assert "Is the reviewing real?" not in page("")


def test_calls_that_went_wrong_after_a_yes_are_counted(
    page: Pages, play: Callable[..., Play], acme: Tenant, alice: Member, mona: Member
) -> None:
    run = play().begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "4111"}))
    (request,) = run.park(label)
    decide(alice, request)
    run.take()
    run.lost(label)
    assert facts(page(""))["Went wrong after approval"].startswith("1 1 outcome unknown; of 1 approved")
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "1 个结果未知；共批准 1 个" in words(page(""))


def test_how_long_unknown_outcomes_waited_for_a_settlement_is_counted(
    page: Pages, play: Callable[..., Play], acme: Tenant, alice: Member, mona: Member
) -> None:
    run = play().begin()
    labels = run.wants(*[("label", {"order": f"A-{number}", "card": "4111"}) for number in range(3)])
    for label in labels[1:]:
        run.lost(label)
    run.park(labels[0])
    assert facts(page(""))["Unknown outcomes settled"] == "0"
    with scope(acme.pk):
        commands.settle(run.run.pk, labels[1], outcome="not_done", note="I rang.", actor=actor(mona))
    assert facts(page(""))["Unknown outcomes settled"].startswith("1 half within ")
    assert facts(page("?agent=clerk"))["Unknown outcomes settled"].startswith("1 half within ")
    with scope(acme.pk):
        agents.switch("other", actor=COMMAND, enabled=True)
        now = timezone.now()
        span = Span(start=now - timedelta(days=1), end=now + timedelta(days=1))
        times = dict(Event.objects.filter(subject=run.subject, data__step=labels[1]).values_list("name", "at"))
        took = (times["step.settled"] - times["step.unknown"]).total_seconds()
        assert measuring.settling(span) == Settling(1, took, took)
        assert measuring.settling(replace(span, agent="other")).settled == 0
        assert measuring.settling(replace(span, shut=["clerk"])).settled == 0


def test_it_is_narrowed_by_time_group_and_agent(page: Pages, asked: list[ApprovalRequest], acme: Tenant) -> None:
    with scope(acme.pk):
        agents.switch("refund-desk", actor=COMMAND, enabled=True)
    assert facts(page("?agent=refund-desk"))["Asked"].startswith("5 ")
    assert facts(page("?group=Finance"))["Asked"].startswith("3 ")
    assert facts(page("?period=7&group=nobody&agent=nobody"))["Asked"].startswith("5 5 more than in the 7 days before")
    with scope(acme.pk):
        past = Span(start=timezone.now() - timedelta(days=9), end=timezone.now() - timedelta(days=2))
        assert [row.asked for row in measuring.askings(past)] == [0]


def test_nothing_asked_is_said_and_is_no_row_of_noughts(page: Pages, acme: Tenant) -> None:
    html = page("")
    assert "Nothing was asked in this time" in html
    assert "facts" not in html.split("<main")[1]


def test_a_restricted_agent_is_not_counted_for_whoever_may_not_see_it(
    page: Pages, asked: list[ApprovalRequest], acme: Tenant
) -> None:
    with scope(acme.pk):
        agents.switch("refund-desk", actor=COMMAND, enabled=True, restricted=True)
    assert "Nothing was asked in this time" in page("")


def test_other_tenants_are_not_counted(page: Pages, acme: Tenant, globex: Tenant, stranger: Member) -> None:
    park(globex)
    assert "Nothing was asked in this time" in page("")


def test_it_is_for_managers(client: Client, alice: Member, ravi: Member, mona: Member) -> None:
    for member, status in ((alice, 403), (ravi, 403), (mona, 200)):
        client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
        assert client.get("/t/acme/insights/").status_code == status


def test_it_takes_the_same_number_of_queries_however_much_was_asked(
    page: Pages, acme: Tenant, alice: Member, bo: Member
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            page("")
        return len(queries)

    park(acme)
    page("")
    few = cost()
    for number in range(30):
        park(acme, a_call(tool=f"tool_{number}"))
    assert cost() == few <= 25


def test_the_requests_of_a_time_are_found_by_an_index(
    transactional_db: None, acme: Tenant, parked: ApprovalRequest
) -> None:
    copies = """
    INSERT INTO approvals_approvalrequest
    SELECT (jsonb_populate_record(r, jsonb_build_object(
      'id', gen_random_uuid(), 'subject', 'case:' || n, 'opened_at', now() - make_interval(hours => n)))).*
    FROM approvals_approvalrequest r, generate_series(1, 3000) n
    """
    values = {"start": timezone.now() - timedelta(days=1), "end": timezone.now(), "agent": "", "group": "", "shut": []}
    with scope(acme.pk), connection.cursor() as cursor:
        cursor.execute(copies)
    with owner(connection.settings_dict["NAME"]) as connected:
        connected.execute("ANALYZE approvals_approvalrequest")
    with scope(acme.pk), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {measuring._ASKED} SELECT count(*) FROM asked", values)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert re.search(r"Index Cond: .*opened_at", plan), plan
