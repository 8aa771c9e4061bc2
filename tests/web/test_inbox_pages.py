"""A long inbox: a page at a time by keyset over an index, what is due first before the rest, with numbers that hold."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import queries
from approvals.models import ApprovalRequest
from approvals.queries import Filters
from tenants import ids
from tenants.models import Member, Tenant
from tenants.paging import encode
from tenants.scope import scope
from tests.cast.request_pages import browser, text, url
from tests.cast.requests import ARGUMENTS, a_call, group, park
from tests.harness.database import owner

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

INBOX = "/t/acme/inbox/"
MANY = 1_234
COPIES = """
WITH made AS (
  INSERT INTO approvals_approvalrequest
  SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'subject', 'case:' || gen_random_uuid(),
    'next_at', r.next_at + make_interval(secs => n * 7919 %% 86400)))).*
  FROM approvals_approvalrequest r, generate_series(1, %(number)s) n WHERE r.id = %(of)s RETURNING id
), versions AS (
  INSERT INTO approvals_requestversion
  SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'request_id', made.id))).*
  FROM approvals_requestversion v, made WHERE v.request_id = %(of)s
)
INSERT INTO approvals_asked
SELECT (jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'request_id', made.id))).*
FROM approvals_asked a, made WHERE a.request_id = %(of)s
"""


def copies(request: ApprovalRequest, number: int) -> None:
    """So many more that ask the same of the same people, each due at another time."""
    with scope(request.tenant_id), connection.cursor() as cursor:
        cursor.execute(COPIES, {"of": request.pk, "number": number})
    with owner(connection.settings_dict["NAME"]) as connected:
        connected.execute("ANALYZE approvals_approvalrequest")
        connected.execute("ANALYZE approvals_asked")


@pytest.fixture
def many(acme: Tenant, alice: Member, bo: Member) -> Tenant:
    """Acme with 1,234 requests that ask Alice and Bo."""
    copies(park(acme), MANY - 1)
    return acme


def listed(page: str) -> list[str]:
    return re.findall(r'<h3><a href="/t/acme/requests/([^"]+)/"', page)


def following(page: str) -> str:
    found = re.search(r'rel="next" href="([^"]+)"', page)
    return unescape(found[1]) if found else ""


def said(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def walk(client: Client, path: str) -> list[str]:
    """The pages from this one on to the last."""
    pages = []
    while path:
        pages.append(text(client.get(path)))
        path = following(pages[-1])
    return pages


def test_page_by_page_each_request_comes_once_and_what_is_due_first_comes_first(many: Tenant, alice: Member) -> None:
    pages = walk(browser(alice), INBOX)
    with scope(many.pk):
        order = ApprovalRequest.objects.order_by("next_at", "id").values_list("pk", flat=True)
        assert [key for page in pages for key in listed(page)] == [str(key) for key in order]
    assert [len(listed(page)) for page in pages] == [50] * 24 + [34]


def test_a_page_says_how_many_of_how_many_it_shows_and_what_is_ticked_on_it(many: Tenant, alice: Member) -> None:
    client = browser(alice)
    first = text(client.get(INBOX))
    assert "50 of 1234 requests stand on this page, what is due first before the rest." in said(first)
    assert "Asked of me 1234" in said(first)
    assert re.findall(r'class="group-title">.*?<span>([^<]+)</span>', first, re.DOTALL) == ["50 on this page"]
    assert "It takes what is ticked on this page; each page has its own." in first
    assert "Nothing else waits for you." not in first
    assert "To the first page" not in first
    last = walk(client, INBOX)[-1]
    assert "34 of 1234 requests stand on this page" in said(last)
    assert "The list ends here." in last
    assert f'href="{INBOX}">To the first page' in last


def test_what_waits_for_the_readers_groups_is_counted_to_a_thousand_and_the_page_says_so(
    many: Tenant, alice: Member
) -> None:
    page = said(text(browser(alice).get(f"{INBOX}?view=groups")))
    assert "My groups more than 1000 +" in page
    assert "Asked of me 1234" in page
    assert "50 of more than 1000 requests stand on this page" in page


def test_no_more_is_looked_at_for_that_number_than_is_counted(many: Tenant, alice: Member, bo: Member) -> None:
    group(many, "Finance", alice, bo)
    copies(park(many), 5_000)
    with CaptureQueriesContext(connection) as found:
        browser(alice).get(INBOX)
    (counted,) = [each["sql"] for each in found if "COUNT" in each["sql"] and "LIMIT 1001" in each["sql"]]
    with scope(many.pk), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) {counted}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert max(float(rows) for rows in re.findall(r"actual rows=([\d.]+)", plan)) <= 2_010, plan


def test_a_short_list_says_nothing_of_pages(acme: Tenant, alice: Member) -> None:
    park(acme)
    page = text(browser(alice).get(INBOX))
    assert "on this page" not in page
    assert "Nothing else waits for you." in page


def test_a_list_that_is_narrowed_counts_what_it_lists_and_claims_nothing_of_the_rest(
    many: Tenant, alice: Member
) -> None:
    copies(park(many, a_call(tool="pay", arguments={**ARGUMENTS, "order_id": "B-1"})), 59)
    client = browser(alice)
    pages = walk(client, f"{INBOX}?tool=pay")
    assert [len(listed(page)) for page in pages] == [50, 10]
    assert "50 of 60 requests stand on this page" in said(pages[0])
    assert f'href="{INBOX}?tool=pay">To the first page' in pages[1]
    assert "50 of more than 1000 requests stand on this page" in said(text(client.get(f"{INBOX}?tool=refund")))
    narrowed = text(client.get(f"{INBOX}?risk=critical"))
    assert "Nothing else waits for you." not in narrowed
    park(many, a_call(risk="critical"))
    assert "Nothing else waits for you." not in text(client.get(f"{INBOX}?risk=critical"))


def test_only_a_page_is_read_of_all_that_waits(many: Tenant, alice: Member) -> None:
    copies(park(many), 5_000)
    with scope(many.pk), connection.cursor() as cursor:
        rows = queries.listed(alice, Filters()).filter(queries.asked_of(alice), status="pending")
        query, given = rows.order_by("next_at", "id")[:51].query.sql_with_params()
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) {query}", given)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "request_waits_in_turn" in plan
    assert max(float(rows) for rows in re.findall(r"actual rows=([\d.]+)", plan)) <= 51


def test_pages_cost_the_same_queries_wherever_they_are(many: Tenant, alice: Member) -> None:
    client = browser(alice)
    path, counts = INBOX, []
    for _page in range(3):
        with CaptureQueriesContext(connection) as found:
            page = text(client.get(path))
        counts.append(len(found))
        path = following(page)
    assert len(set(counts)) == 1
    assert counts[0] <= 28


def test_a_request_says_honestly_where_it_stands_in_a_long_list(many: Tenant, alice: Member) -> None:
    client = browser(alice)
    (key, *_rest) = listed(text(client.get(INBOX)))
    with scope(many.pk):
        first = ApprovalRequest.objects.get(pk=key)
    assert "1 of more than 200." in text(client.get(url(first)))


def test_the_page_of_many_says_what_it_leaves_out(acme: Tenant, alice: Member, bo: Member) -> None:
    one, other, gone = park(acme), park(acme), park(acme)
    assert (
        browser(bo).post(url(gone, "decide/"), {"decision": "reject", "version": "1", "reason": "no"}).status_code
        == 302
    )
    keys = [str(each.pk) for each in (one, other, gone)]
    page = text(browser(alice).get(f"{INBOX}bulk/", {"request": keys}))
    assert "1 of those you chose no longer waits, and is left out." in page
    assert (
        "left out." not in text(browser(alice).get(f"{INBOX}bulk/", {"request": keys[:2]})).split("What was decided")[0]
    )
    copies(one, 120)
    with scope(acme.pk):
        all_of_them = [
            str(key) for key in ApprovalRequest.objects.filter(status="pending").values_list("pk", flat=True)
        ]
    page = text(browser(alice).get(f"{INBOX}bulk/", {"request": all_of_them}))
    assert f"{len(all_of_them)} were chosen; only the first 100 are compared here." in page
    assert page.count('name="request"') == 100


@pytest.mark.parametrize(
    ("moment", "answer"),
    [
        ("2026-01-01T00:00:00+00:00", 200),
        ("2026-01-01", 400),
        ("2026-01-01T00:00:00", 400),
        ("2026-01-01T00:00:00+23:59", 200),
        ("0001-01-01T00:00:00+14:00", 400),
        ("9999-12-31T23:59:59-14:00", 400),
    ],
)
def test_a_cursor_that_somebody_has_changed_is_refused_or_read_and_breaks_nothing(
    acme: Tenant, alice: Member, moment: str, answer: int
) -> None:
    response = browser(alice).get(INBOX, {"after": encode([moment, ids.new()])})
    assert response.status_code == answer
