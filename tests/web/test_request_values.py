"""The request page: the values it shows, what was read and checked beside them, and what may deceive in them."""

import json
import re
from typing import Any

import pytest

from approvals import decisions
from approvals.models import ApprovalRequest
from tenants import ids
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.request_pages import answer, browser, text, url
from tests.cast.requests import ARGUMENTS, a_call, park


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
