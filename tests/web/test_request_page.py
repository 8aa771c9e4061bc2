"""The request page: what it shows, the answer form, and what it says when something moved."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from approvals import decisions, queries, rules
from approvals.models import ApprovalRequest, Review, Viewing
from tenants import events, ids, members
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor, make_member
from tests.cast.request_pages import LONG, answer, browser, plain, text, url
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule
from tests.db.test_escalation import hours_pass


def test_the_act_stands_before_the_reason(parked: ApprovalRequest, alice: Member) -> None:
    page = text(browser(alice).get(url(parked)))
    title, parameter, reason = (
        page.index("Refund 1240.00 EUR for order A-1042</bdi></h1>"),
        page.index("<code><bdi>A-1042"),
        page.index("The order arrived broken."),
    )
    assert title < parameter < reason
    assert "a claim, not checked" in page


@pytest.mark.parametrize(
    ("waiting", "words"), [(0, ""), (1, "Another call waits for this one."), (2, "2 other calls wait for this one.")]
)
def test_calls_that_wait_for_this_one_are_looked_at_first(
    acme: Tenant, alice: Member, waiting: int, words: str
) -> None:
    run = str(ids.new())
    told: dict[str, Any] = {"id": run, "title": "Broken cup", "step": 5}
    request = park(acme, a_call(run={**told, **({"dependents": waiting} if waiting else {})}), subject=f"run:{run}")
    page = text(browser(alice).get(url(request)))
    assert words in page
    assert ("they go one by one" in page) == (waiting > 0)


def test_an_admin_who_is_asked_is_led_from_the_request_to_its_rule(acme: Tenant, ravi: Member) -> None:
    with scope(acme.pk):
        members.change(ravi.pk, actor=actor(ravi), roles=["reviewer", "admin"])
        made = rules.create_rule(actor=actor(ravi), name="Large refunds", approvals=1)
    client = browser(ravi)
    page = text(client.get(url(park(acme))))
    address = f"/t/acme/settings/policies/{made.pk}/"
    assert f'href="{address}"' in page
    answer = client.get(address)
    assert answer.status_code == 200
    assert "Large refunds" in text(answer)


def test_approving_leads_back_to_the_page_which_says_so(parked: ApprovalRequest, alice: Member) -> None:
    client = browser(alice)
    response = answer(client, parked, "approve", note="Fine.")
    assert response.status_code == 302
    assert fresh(parked).status == "approved"
    page = text(client.get(url(parked)))
    assert "You approved this" in page
    assert 'name="decision"' not in page
    assert client.get(url(parked)).headers["Cache-Control"] == "no-store"


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_of_two_who_approved_each_stands_with_their_own_time(acme: Tenant, alice: Member, bo: Member) -> None:
    rule(acme, bo, approvals=2)
    request = park(acme)
    first = datetime(2026, 3, 4, 9, 8, 7, tzinfo=UTC)
    answer(browser(bo), request, "approve")
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE approvals_review DISABLE TRIGGER USER")
        cursor.execute("UPDATE approvals_review SET at = %s WHERE request_id = %s", [first, request.pk])
        cursor.execute("ALTER TABLE approvals_review ENABLE TRIGGER USER")
    answer(browser(alice), request, "approve")
    with scope(acme.pk):
        own = Review.objects.get(request=request, member=alice).at
    page = text(browser(alice).get(url(request)))
    earlier, later = re.findall(r'(?:Bo|You) approved this at <time datetime="([^"]+)"', page)
    assert datetime.fromisoformat(earlier) == first
    assert datetime.fromisoformat(later) == own.replace(microsecond=0)
    assert "and you approved this" not in page


def test_where_an_approval_may_leave_as_many_to_go_the_page_says_so_and_who_is_still_needed(
    acme: Tenant, alice: Member, bo: Member
) -> None:
    chen = make_member(acme, "Chen", "reviewer")
    rule(acme, alice, "Two", approvals=2, of=[{"group": group(acme, "Refund reviewers", bo, chen).name}])
    rule(acme, alice, "Anybody", approvals=1)
    request, client = park(acme), browser(alice)
    before = plain(client.get(url(request)))
    assert "0 of at least 2 approvals. Still needed: 1 of Any reviewer, 2 of Refund reviewers." in before
    assert "It does not run yet. After yours there is still needed: 2 of Refund reviewers." in before
    assert "Any reviewer: You, Bo, Chen." in before
    assert "Refund reviewers: Bo, Chen." in before
    answer(client, request, "approve")
    after = plain(client.get(url(request)))
    assert "1 of at least 3 approvals. Still needed: 2 of Refund reviewers." in after
    assert "Waiting for 2 of Bo, Chen." in after
    answer(browser(bo), request, "approve")
    assert "Waiting for one of Chen." in plain(client.get(url(request)))
    assert "Yours is the last one needed" in plain(browser(chen).get(url(request)))


def test_after_an_answer_the_next_request_is_one_step_away(
    parked: ApprovalRequest, acme: Tenant, alice: Member
) -> None:
    client, coming = browser(alice), park(acme)
    answer(client, parked, "approve")
    assert f'href="{url(coming)}">Next request' in text(client.get(url(parked)))
    answer(client, coming, "approve")
    page = text(client.get(url(coming)))
    assert "Next request" not in page
    assert "To the inbox" in page


def test_the_same_answer_again_is_no_error(parked: ApprovalRequest, alice: Member) -> None:
    client = browser(alice)
    assert answer(client, parked, "approve").status_code == 302
    assert answer(client, parked, "approve").status_code == 302
    with scope(parked.tenant_id):
        assert Review.objects.filter(request=parked).count() == 1


def test_a_late_answer_is_told_who_was_first(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    answer(browser(bo), parked, "approve")
    response = answer(browser(alice), parked, "reject", reason="No photo.")
    assert response.status_code == 409
    assert "Bo approved this" in text(response)
    assert "was not counted" in text(response)
    assert 'name="decision"' not in text(response)


def test_a_rejection_without_a_reason_says_so_beside_the_field(parked: ApprovalRequest, alice: Member) -> None:
    response = answer(browser(alice), parked, "reject", reason="")
    assert response.status_code == 422
    assert "Write a reason" in text(response)
    assert "#answer-reason" in text(response)


def test_what_was_typed_is_kept_when_the_version_moved(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(risk="critical"))
    decisions.decide(
        request.pk,
        tenant=acme.pk,
        actor=actor(bo),
        decision="edit",
        version=1,
        arguments={**ARGUMENTS, "amount": "1190.00"},
        channel="page",
    )
    response = answer(browser(alice), request, "reject", reason="Too much.")
    page = text(response)
    assert response.status_code == 409
    assert "Bo made version 2" in page
    assert "1190.00" in page
    assert "Too much." in page


def test_nothing_typed_for_one_request_stands_on_the_next(acme: Tenant, alice: Member) -> None:
    first, second = park(acme), park(acme)
    client = browser(alice)
    answer(client, first, "reject", reason="")
    client.post(url(first, "decide/"), {"decision": "reject", "version": "1", "reason": "Only for the first."})
    assert "Only for the first." not in text(client.get(url(second)))


def test_who_may_not_answer_reads_why_and_who_can(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(initiators=(alice.pk,)))
    page = text(browser(alice).get(url(request)))
    assert "You started this run" in page
    assert "They can: Bo" in page
    assert 'name="decision"' not in page


def test_an_initiator_is_refused_by_the_form_as_well(acme: Tenant, alice: Member, bo: Member) -> None:
    request = park(acme, a_call(initiators=(alice.pk,)))
    assert answer(browser(alice), request, "approve").status_code == 403
    assert fresh(request).status == "pending"


def test_a_stranger_finds_nothing(parked: ApprovalRequest, stranger: Member) -> None:
    client = browser(stranger)
    assert client.get(url(parked)).status_code == 404
    assert client.get(f"/t/globex/requests/{parked.pk}/").status_code == 404
    assert client.get(f"/t/globex/requests/{ids.new()}/").status_code == 404
    assert (
        client.post(f"/t/globex/requests/{parked.pk}/decide/", {"decision": "approve", "version": "1"}).status_code
        == 404
    )


def test_viewed_is_a_post_that_keeps_who_looks(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    client = browser(alice)
    client.get(url(parked))
    with scope(parked.tenant_id):
        assert not Viewing.objects.exists()
    assert client.post(url(parked, "viewed/")).status_code == 204
    assert "Alice is looking" in text(browser(bo).get(url(parked)))


@pytest.mark.parametrize("path", ["decide/", "viewed/", "comment/"])
def test_the_address_of_a_deed_opened_leads_to_the_page(parked: ApprovalRequest, alice: Member, path: str) -> None:
    client = browser(alice)
    for opened in (client.get(url(parked, path)), client.head(url(parked, path))):
        assert (opened.status_code, opened.headers["Location"]) == (302, url(parked))
    assert fresh(parked).status == "pending"


def test_a_post_without_a_csrf_token_is_403(parked: ApprovalRequest, alice: Member) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert client.post(url(parked, "decide/"), {"decision": "approve", "version": "1"}).status_code == 403
    assert fresh(parked).status == "pending"


def test_comments_are_read_by_people(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    browser(alice).post(url(parked, "comment/"), {"text": "Called the customer."})
    assert "Called the customer." in text(browser(bo).get(url(parked)))


def test_the_parts_are_fetched_at_the_same_address(parked: ApprovalRequest, alice: Member) -> None:
    for part in ("status", "answer", "asked"):
        response = browser(alice).get(url(parked), {"part": part, "version": "1"})
        assert response.status_code == 200
        assert "<html" not in text(response)


def test_the_inbox_lists_what_waits_for_me(acme: Tenant, alice: Member, bo: Member) -> None:
    mine, own = park(acme), park(acme, a_call(initiators=(alice.pk,)))
    page = text(browser(alice).get("/t/acme/inbox/"))
    assert str(mine.pk) in page
    assert str(own.pk) not in page
    assert text(browser(bo).get("/t/acme/inbox/")).count(str(own.pk)) > 0


def test_an_empty_inbox_says_why(acme: Tenant, alice: Member) -> None:
    assert "No agent is switched on yet" in text(browser(alice).get("/t/acme/inbox/"))


def test_an_answer_is_confirmed_at_once_on_its_page_and_not_on_the_next(parked: ApprovalRequest, alice: Member) -> None:
    client = browser(alice)
    page = text(client.get(answer(client, parked, "approve").headers["Location"]))
    assert "You approved this at" in page
    assert "Approved:" not in text(client.get("/t/acme/inbox/"))


def test_decided_lists_the_ends(parked: ApprovalRequest, alice: Member) -> None:
    client = browser(alice)
    answer(client, parked, "reject", reason="No.")
    page = text(client.get("/t/acme/decided/"))
    assert str(parked.pk) in page
    assert "rejected" in page


def test_the_pages_cost_a_fixed_number_of_queries(
    acme: Tenant, alice: Member, django_assert_max_num_queries: Any
) -> None:
    client = browser(alice)
    for _number in range(2):
        park(acme)
    client.get("/t/acme/inbox/")
    with django_assert_max_num_queries(60) as few:
        client.get("/t/acme/inbox/")
    last = park(acme)
    for _number in range(20):
        last = park(acme)
    with django_assert_max_num_queries(len(few)):
        client.get("/t/acme/inbox/")
    with django_assert_max_num_queries(60):
        client.get(url(last))


def test_a_rule_that_cannot_be_evaluated_asks_an_admin_and_shows_why(acme: Tenant, alice: Member, ravi: Member) -> None:
    rule(acme, alice, "Large", when="args.amount > 1000.0")
    request = park(acme, a_call(arguments={**ARGUMENTS, "amount": "12345678901234567890.12"}))
    page = text(browser(ravi).get(url(request)))
    assert "12345678901234567890.12" in page
    assert "could not be evaluated" in page
    assert answer(browser(alice), request, "approve").status_code == 403
    assert answer(browser(ravi), request, "approve").status_code == 302
    assert fresh(request).status == "approved"


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_whom_an_expired_question_asked_and_who_opened_it_stand_by_name(
    acme: Tenant, bo: Member, alice: Member
) -> None:
    zoe, adam = (make_member(acme, name, "reviewer") for name in ("Zoe", "Adam"))
    request = park(acme)
    for member in (zoe, bo, adam):
        browser(member).post(url(request, "viewed/"), {"version": "1"})
    hours_pass(request, 25)
    answer(browser(alice), request, "approve")
    page = text(browser(alice).get(url(request)))
    assert "Asked: Adam, Alice, Bo and Zoe." in page
    assert "Opened by: Adam, Bo and Zoe." in page


def test_a_comment_that_is_too_long_comes_back_in_its_box_with_what_is_wrong(
    parked: ApprovalRequest, alice: Member
) -> None:
    client = browser(alice)
    response = client.post(url(parked, "comment/"), {"text": LONG})
    page = text(response)
    assert response.status_code == 422
    assert "This is too long: at most 10000 characters." in page
    assert LONG in page
    assert 'id="comment-text" name="text" rows="2" maxlength="10000"' in page
    assert 'name="decision"' in page
    assert LONG not in text(client.get(url(parked)))


@pytest.mark.parametrize(("decision", "field"), [("approve", "note"), ("reject", "reason"), ("respond", "response")])
def test_an_answer_that_is_too_long_comes_back_in_its_box(
    parked: ApprovalRequest, alice: Member, decision: str, field: str
) -> None:
    response = answer(browser(alice), parked, decision, **{field: LONG})
    page = text(response)
    assert response.status_code == 422
    assert f'href="#answer-{field}">This is too long: at most 20000 characters.' in page
    assert LONG in page
    assert page.count('maxlength="20000"') == 3


def test_the_words_of_a_late_answer_are_kept_to_be_copied(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    answer(browser(bo), parked, "approve")
    page = text(answer(browser(alice), parked, "reject", reason="No photo."))
    assert "What you had written" in page
    assert 'readonly aria-describedby="written-text-h">\nNo photo.</textarea>' in page


def test_the_inbox_says_why_one_cannot_be_chosen_with_others(acme: Tenant, alice: Member) -> None:
    park(acme, a_call(arguments={**ARGUMENTS, "note": "a\u202eb"}))
    page = text(browser(alice).get("/t/acme/inbox/"))
    assert "To be answered alone: note holds a hidden character." in page
    assert 'name="request"' not in page


def test_who_may_only_read_is_not_said_to_be_asked(acme: Tenant, parked: ApprovalRequest) -> None:
    page = text(browser(make_member(acme, "Mona", "manager")).get(url(parked)))
    assert "Open, not yours to answer" in page
    assert "Why it is asked" in page
    assert "Why you are asked" not in page


def test_of_a_closed_request_nothing_is_told_as_still_to_come(
    parked: ApprovalRequest, alice: Member, bo: Member
) -> None:
    client = browser(alice)
    before = text(client.get(url(parked)))
    answer(browser(bo), parked, "reject", reason="No photo.")
    page = text(client.get(url(parked)))
    for coming in ("<b>Expires</b>", "What will be sent", "Who is asked", "Why you are asked"):
        assert coming in before
        assert coming not in page
    for past in ("What was asked for", "Who was asked", "Why it was asked"):
        assert past not in before
        assert past in page
    with scope(parked.tenant_id):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    page = text(client.get(url(parked)))
    assert "所请求的内容" in page
    assert "问过谁" in page


def test_the_rule_that_every_tenant_begins_with_has_its_name_in_the_readers_language(
    acme: Tenant, parked: ApprovalRequest, alice: Member
) -> None:
    assert "<b>Default</b>" in text(browser(alice).get(url(parked)))
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    assert "<b>默认规则</b>" in text(browser(alice).get(url(parked)))


@pytest.mark.parametrize(
    ("decision", "fields", "yours", "theirs"),
    [
        ("reject", {"reason": "No photo."}, "You have rejected.", "has rejected."),
        ("respond", {"response": "Paid by hand."}, "You have answered in its place.", "has answered in its place."),
    ],
)
def test_whoever_answered_is_said_to_have_answered_so(
    parked: ApprovalRequest, alice: Member, bo: Member, decision: str, fields: dict[str, str], yours: str, theirs: str
) -> None:
    assert answer(browser(alice), parked, decision, **fields).status_code == 302
    mine, others = (text(browser(each).get(url(parked))) for each in (alice, bo))
    assert yours in mine
    assert theirs in others
    assert "have approved" not in mine + others
    if decision == "respond":
        assert "You answered this in the tool’s place at" in mine


def test_what_is_told_while_the_page_is_read_the_page_still_hears_of(
    parked: ApprovalRequest, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is read before its rows: else it would take itself for newer than what it shows."""
    order: list[str] = []
    number, row = events.last_seq, queries.one

    def last_seq(subject: str) -> int:
        order.append("number")
        return number(subject)

    def one(*given: Any) -> Any:
        order.append("row")
        return row(*given)

    monkeypatch.setattr(events, "last_seq", last_seq)
    monkeypatch.setattr(queries, "one", one)
    assert browser(alice).get(url(parked)).status_code == 200
    assert order == ["number", "row"]
