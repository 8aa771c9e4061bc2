"""The request page: what it shows, the answer form, and what it says when something moved."""

import json
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
from tests.cast.requests import ARGUMENTS, a_call, fresh, group, park, rule
from tests.db.test_escalation import hours_pass


def browser(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def url(request: ApprovalRequest, path: str = "") -> str:
    return f"/t/acme/requests/{request.pk}/{path}"


def text(response: Any) -> str:
    return str(response.content.decode())


def answer(client: Client, request: ApprovalRequest, decision: str, version: int = 1, **fields: str) -> Any:
    return client.post(url(request, "decide/"), {"decision": decision, "version": str(version), **fields})


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


def test_what_the_agent_had_seen_stands_before_its_reason_with_the_step_to_open(acme: Tenant, alice: Member) -> None:
    run = str(ids.new())
    seen = [
        {
            "tool": "lookup_order",
            "text": '{"order":"A-1042","total":"1240.00"}',
            "at": "2026-11-30T09:00:00Z",
            "step": 2,
        },
        {"tool": "", "text": "plain \u202e text", "at": "", "step": 3},
    ]
    request = park(acme, a_call(run={"id": run, "title": "Broken cup", "step": 5, "seen": seen}), subject=f"run:{run}")
    page = text(browser(alice).get(url(request)))
    heading, fact, reason = (
        page.index("What the agent had seen"),
        page.index("order: A-1042, total: 1240.00"),
        page.index("The order arrived broken."),
    )
    assert heading < fact < reason
    assert f'href="/t/acme/runs/{run}/#step-2"' in page
    assert "Observed again" in page
    assert "U+202E" in page


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


def plain(response: Any) -> str:
    """The words of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", text(response)).split())


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


@pytest.mark.parametrize(
    ("value", "code"), [("a\u202eb", "U+202E"), ("a\u2066b", "U+2066"), ("a\u200bb", "U+200B"), ("a\ufeffb", "U+FEFF")]
)
def test_hidden_characters_are_marked_everywhere(acme: Tenant, alice: Member, value: str, code: str) -> None:
    request = park(acme, a_call(arguments={**ARGUMENTS, "order_id": value}))
    client = browser(alice)
    for page in (text(client.get(url(request))), text(client.get("/t/acme/inbox/"))):
        assert code in page
        assert value not in page
    assert "holds a hidden character" in text(client.get(url(request)))


def test_hebrew_and_arabic_stay_as_they_are(acme: Tenant, alice: Member) -> None:
    request = park(acme, a_call(arguments={**ARGUMENTS, "note": "שלום مرحبا 你好 👩‍👧"}))
    assert "שלום مرحبا 你好 👩‍👧" in text(browser(alice).get(url(request)))


def test_hostile_markup_is_text(acme: Tenant, alice: Member) -> None:
    nasty = "</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>"
    call = a_call(arguments={**ARGUMENTS, "note": nasty}, rationale=nasty, run={"title": nasty})
    request = park(acme, call)
    for page in (text(browser(alice).get(url(request))), text(browser(alice).get("/t/acme/inbox/"))):
        assert "<img src=x" not in page
        assert "href='javascript" not in page


def test_a_long_value_can_be_read_whole(acme: Tenant, alice: Member) -> None:
    long = "harmless " * 2500 + "LAST LINE THAT MATTERS"
    request = park(acme, a_call(arguments={**ARGUMENTS, "note": long}))
    page = text(browser(alice).get(url(request)))
    assert "LAST LINE THAT MATTERS" in page
    assert f"{len(long)}" in page.replace(",", "")


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


def test_a_call_like_this_that_was_edited_first_is_told_so(acme: Tenant, alice: Member, bo: Member) -> None:
    edited, plain = park(acme), park(acme)
    fields: dict[str, Any] = {"arg.amount": "9.50"}
    answer(browser(alice), edited, "edit", **fields)
    answer(browser(bo), plain, "approve")
    page = text(browser(alice).get(url(park(acme))))
    assert ">Edited, then approved by Alice</td>" in page
    assert ">Approved by Bo</td>" in page
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    assert "修改后由 Alice 批准" in text(browser(alice).get(url(park(acme))))


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


def test_what_was_checked_of_a_parameter_stands_beside_it_and_the_rest_below(acme: Tenant, alice: Member) -> None:
    evidence = '{"amount": "Equals the order total.", "goes_to": "Visa card ending 4242"}'
    page = text(browser(alice).get(url(park(acme, a_call(evidence=evidence)))))
    amount, currency = page.index("<code><bdi>1240.00"), page.index("<code><bdi>EUR")
    assert amount < page.index("Equals the order total.") < currency
    assert page.count("Equals the order total.") == 1
    assert page.index("What it touches") < page.index("Visa card ending 4242")


def test_what_a_check_said_at_length_has_room_and_is_marked_where_it_may_deceive(acme: Tenant, alice: Member) -> None:
    said = "Found. " + "The shop wrote a letter. " * 20 + "Pay p\u0430ypal\u202e."
    page = text(browser(alice).get(url(park(acme, a_call(evidence=json.dumps({"order_id": said, "amount": "Fits."}))))))
    assert '<div class="wide"><dt>order_<wbr>id</dt>' in page
    assert page.count('<div class="wide">') == 1
    about = page.partition('<div class="wide">')[2].partition("</div>")[0]
    assert "Look closely at: p\u0430ypal. <b>1 hidden character</b>: right-to-left override" in about


def test_what_was_checked_of_the_agents_value_is_not_said_of_an_edited_one(
    acme: Tenant, alice: Member, bo: Member
) -> None:
    evidence = '{"amount": "Equals the order total.", "currency": "Same as the order."}'
    request = park(acme, a_call(risk="critical", evidence=evidence))
    decisions.decide(
        request.pk,
        tenant=acme.pk,
        actor=actor(bo),
        decision="edit",
        version=1,
        arguments={**ARGUMENTS, "amount": "40.00"},
        channel="page",
    )
    page = text(browser(alice).get(url(request)))
    assert "<code><bdi>40.00" in page
    assert "Equals the order total." not in page
    assert "Same as the order." in page
    assert page.count("What was checked here was read for the value before the edit.") == 1


def test_a_long_result_and_a_long_fact_can_be_unfolded_where_only_their_beginning_stands(
    acme: Tenant, alice: Member
) -> None:
    order, letter = "Paid with a card. " * 20 + "The last word.", "Please help. " * 40 + "p\u0430ypal"
    seen = [{"tool": "lookup_order", "text": order, "at": "", "step": 2}]
    request = park(acme, a_call(run={"id": "", "seen": seen}, evidence=json.dumps({"letter": letter})))
    page = text(browser(alice).get(url(request)))
    assert 'id="whole-seen-1"' in page
    assert "The last word." in page
    assert f"The whole of it, {len(order)} characters" in page
    touches = page.partition("What it touches")[2]
    assert f"The whole of it, {len(letter)} characters" in touches
    assert touches.count("Look closely at: p\u0430ypal.") == 1


def test_a_value_that_is_empty_says_so_and_nothing_stands_beside_one_of_which_nothing_is_known(
    parked: ApprovalRequest, alice: Member
) -> None:
    page = text(browser(alice).get(url(parked)))
    assert re.search(r'note</dt><dd class="value"><span class="quiet">empty</span>', page)
    assert not re.search(r'<dd class="about">\s*</dd>', page)


def test_what_a_long_value_was_before_an_edit_can_be_read_whole(acme: Tenant, alice: Member, bo: Member) -> None:
    agents = "What the agent wrote. " * 20 + "Its last word."
    request = park(acme, a_call(risk="critical", arguments={**ARGUMENTS, "note": agents}))
    changed = {**ARGUMENTS, "note": "Short."}
    words = {"decision": "edit", "version": 1, "arguments": changed, "channel": "page"}
    decisions.decide(request.pk, tenant=acme.pk, actor=actor(bo), **words)
    page = text(browser(alice).get(url(request)))
    assert f"The whole of it, {len(agents)} characters" in page
    assert "Its last word." in page


def test_calls_like_this_stand_by_when_they_were_answered_and_in_the_agents_order_of_the_parameters(
    acme: Tenant, alice: Member
) -> None:
    first, second = (park(acme, a_call(arguments={**ARGUMENTS, "order_id": order})) for order in ("A-1", "A-2"))
    for row in (second, first):
        answer(browser(alice), row, "approve")
    given = {"currency": "EUR", "count": 1, "amount": "3.00", "order_id": "A-3", "note": ""}
    request = park(acme, a_call(arguments=given))
    assert [each["id"] for each in request.precedents["rows"]] == [str(first.pk), str(second.pk)]
    table = text(browser(alice).get(url(request))).partition("the last answered first.")[2]
    table = table.partition("</table>")[0]
    assert re.findall(r"requests/([0-9a-f-]{36})/", table) == [str(first.pk), str(second.pk)]
    heads = re.findall(r'<th scope="col"[^>]*>([a-z_]+)</th>', table)
    assert heads == list(given)[:4]


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


LONG = "A long story. " * 1_500


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


def test_of_a_result_that_was_cut_the_whole_can_be_read(acme: Tenant, alice: Member) -> None:
    run = str(ids.new())
    seen = [
        {"tool": "lookup_order", "text": "a" * 1000 + "…", "at": "", "step": 2, "cut": True},
        {"tool": "lookup_order", "text": "short", "at": "", "step": 3},
    ]
    request = park(acme, a_call(run={"id": run, "title": "Broken cup", "step": 5, "seen": seen}), subject=f"run:{run}")
    page = text(browser(alice).get(url(request)))
    assert f'<a href="/t/acme/runs/{run}/steps/2/result/">The whole result</a>' in page
    assert page.count("The whole result") == 1


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


def test_of_what_was_checked_the_verdict_is_bold_and_what_goes_with_it_is_not(acme: Tenant, alice: Member) -> None:
    evidence = (
        '{"amount": "Equals the total of 1240.00 EUR. Refunded so far: 0.00.", "note": "等于订单总额。此前已退 0.00"}'
    )
    page = text(browser(alice).get(url(park(acme, a_call(evidence=evidence)))))
    assert "<b>Equals the total of 1240.00 EUR.</b> Refunded so far: 0.00." in page
    assert "<b>等于订单总额。</b> 此前已退 0.00" in page


def test_a_long_comment_is_folded_and_can_be_read_whole(parked: ApprovalRequest, alice: Member) -> None:
    client, said = browser(alice), "A long remark. " * 60 + "The end."
    client.post(url(parked, "comment/"), {"text": "Short."})
    client.post(url(parked, "comment/"), {"text": said})
    page = text(client.get(url(parked)))
    assert page.count("The whole of it, 908 characters") == 1
    before, after = page.split("The whole of it, 908 characters")
    assert "The end." not in before
    assert said in after
    assert 'aria-label="Alice, the whole comment"' in after


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


def test_what_is_read_again_before_it_runs_is_told_so_only_while_it_may_run(acme: Tenant, alice: Member) -> None:
    request = park(acme, a_call(precondition='{"charge": "open"}'))
    client = browser(alice)
    page = text(client.get(url(request)))
    assert "<b>Read again just before it runs:</b> charge: open. If that has changed by then" in page
    answer(client, request, "reject", reason="No photo.")
    page = text(client.get(url(request)))
    assert "<b>Read when it was asked:</b> charge: open" in page
    assert "Read again just before it runs" not in page
    assert "instead of running" not in page


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
