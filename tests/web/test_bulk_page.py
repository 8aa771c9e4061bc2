"""Many alike, answered together: one result each, and never those that stand out."""

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client

from approvals import decisions
from approvals.models import ApprovalRequest
from tenants import ids
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import ARGUMENTS, REFUND, a_call, fresh, park, rule

URL = "/t/acme/inbox/bulk/"
Parking = Callable[..., ApprovalRequest]


def browser(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def sent(*requests: ApprovalRequest, **fields: str) -> dict[str, object]:
    versions = {f"version.{each.pk}": str(each.version) for each in requests}
    return {"request": [str(each.pk) for each in requests], **versions, **fields}


def page(client: Client, *requests: ApprovalRequest) -> str:
    return client.get(URL, sent(*requests)).text


def offered(text: str) -> list[str]:
    return re.findall(r'name="request" value="([^"]+)"', text)


def ticked(text: str) -> list[str]:
    return re.findall(r'name="request" value="([^"]+)" checked', text)


def told(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_what_differs_is_a_column_and_what_is_the_same_is_said_once(parking: Parking, alice: Member) -> None:
    both = [parking(a_call(arguments={**ARGUMENTS, "order_id": order})) for order in ("A-1", "A-2")]
    text = page(browser(alice), *both)
    assert re.findall(r'<th scope="col"(?: class="num")?>([^<]+)(?:<wbr>)?', text)[1] == "order_"
    assert "currency = <bdi>EUR" in text
    assert sorted(offered(text)) == sorted(str(each.pk) for each in both)


def test_critical_ones_and_those_with_hidden_characters_stand_out(parking: Parking, alice: Member) -> None:
    plain = parking()
    critical = parking(a_call(risk="critical"))
    hidden = parking(a_call(arguments={**ARGUMENTS, "note": "a\u202eb"}))
    text = page(browser(alice), plain, critical, hidden)
    assert offered(text) == [str(plain.pk)]
    assert "2 stand out and are not part of this answer" in text


def test_the_one_value_that_no_other_has_stands_out(parking: Parking, alice: Member) -> None:
    rows = [parking(a_call(arguments={**ARGUMENTS, "currency": money})) for money in ("EUR", "EUR", "EUR", "SEK")]
    text = page(browser(alice), *rows)
    assert "currency is SEK. The others: EUR." in text
    assert str(rows[3].pk) not in offered(text)


def test_what_the_reader_has_approved_is_left_out_and_said(
    parking: Parking, acme: Tenant, alice: Member, bo: Member, ravi: Member
) -> None:
    rule(acme, ravi, approvals=2)
    mine, other = parking(), parking()
    decisions.decide(mine.pk, tenant=acme.pk, actor=actor(alice), decision="approve", version=1, channel="page")
    client = browser(alice)
    text = page(client, mine, other)
    assert offered(text) == [str(other.pk)]
    assert "Your approval of 1 is in already; it is not part of this answer" in text
    assert f'href="/t/acme/requests/{mine.pk}/"' in text
    assert "1 of 2 approvals" in text
    assert "You have approved each of these; they wait for other people." in page(client, mine)
    assert offered(client.get("/t/acme/inbox/").text) == [str(other.pk)]
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    assert "您已批准其中 1 项，不在本次答复之内" in page(client, mine, other)


def test_each_has_its_own_result(parking: Parking, acme: Tenant, globex: Tenant, alice: Member, bo: Member) -> None:
    first, decided, own, foreign = parking(), parking(), parking(a_call(initiators=(alice.pk,))), park(globex)
    decisions.decide(
        decided.pk, tenant=acme.pk, actor=actor(bo), decision="reject", version=1, comment="no", channel="page"
    )
    text = browser(alice).post(URL, sent(first, decided, own, foreign, decision="approve")).text
    states = re.findall(r'<span class="badge"[^>]*>([^<]+)</span>', text.split("One result each")[1])
    assert states == ["approved", "already decided", "refused", "not found"]
    assert [fresh(each).status for each in (first, decided, own)] == ["approved", "rejected", "pending"]
    assert "Refund" not in text.split(str(foreign.pk))[1].split("</tr>")[0]


def test_a_foreign_request_reads_like_an_unknown_one(acme: Tenant, globex: Tenant, alice: Member) -> None:
    foreign, unknown = park(globex), ids.new()
    client = browser(alice)
    told = [
        client.post(URL, {"request": str(key), f"version.{key}": "1", "decision": "approve"}).text.replace(str(key), "")
        for key in (foreign.pk, unknown)
    ]
    tokens = re.compile(r'value="[A-Za-z0-9]{64}"')
    assert tokens.sub("", told[0]) == tokens.sub("", told[1])
    assert fresh(foreign).status == "pending"


def test_a_version_that_moved_is_left_out(parking: Parking, alice: Member) -> None:
    request = parking()
    form = {**sent(request, decision="approve"), f"version.{request.pk}": "7"}
    assert "changed" in browser(alice).post(URL, form).text.split("One result each")[1]
    assert fresh(request).status == "pending"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Choose approve or reject."),
        ({"decision": "respond"}, "Choose approve or reject."),
        ({"decision": "reject", "reason": " "}, "Write a reason."),
    ],
)
def test_nothing_is_sent_without_a_choice_or_a_reason(
    parking: Parking, alice: Member, fields: dict[str, str], said: str
) -> None:
    request = parking()
    response = browser(alice).post(URL, sent(request, **fields))
    assert response.status_code == 422
    assert said in response.text
    assert fresh(request).status == "pending"


def test_opening_the_page_decides_nothing(parking: Parking, alice: Member) -> None:
    request = parking()
    assert browser(alice).get(URL, sent(request, decision="approve")).status_code == 200
    assert fresh(request).status == "pending"


def test_a_reason_too_long_for_all_comes_back_in_its_box(parking: Parking, alice: Member) -> None:
    rows, long = [parking(), parking()], "A long story. " * 1_500
    response = browser(alice).post(URL, sent(*rows, decision="reject", reason=long))
    assert response.status_code == 422
    assert "This is too long: at most 20000 characters." in response.text
    assert long in response.text
    assert {fresh(each).status for each in rows} == {"pending"}


def test_where_one_approval_is_not_enough_it_says_what_is_still_needed(
    acme: Tenant, parking: Parking, alice: Member
) -> None:
    one, other = parking(), parking()
    assert "Each is checked again by itself, then runs." in page(browser(alice), one, other)
    rule(acme, alice, "Large refunds", approvals=3)
    many = parking()
    text = page(browser(alice), one, many)
    assert "then runs." not in text
    assert text.count("After yours it needs 2 more approvals.") == 1
    assert "runs once it has all the approvals it needs" in text


def test_every_rule_is_named_once_for_all_it_asks_for_and_else_beside_its_requests(
    acme: Tenant, parking: Parking, alice: Member
) -> None:
    rule(acme, alice, "Refunds", approvals=1)
    first = parking()
    rule(acme, alice, "Large refunds", approvals=3)
    second = parking()
    common, rows = told(page(browser(alice), first, second)).split("Fields that differ")
    assert "Rule Refunds asks one reviewer." in common
    assert "Large refunds" not in common
    assert rows.count("Rule Large refunds asks 3 reviewers.") == 1
    assert "Rule Refunds" not in rows
    common, rows = told(page(browser(alice), second, parking())).split("Fields that differ")
    assert common.index("Rule Refunds asks one reviewer.") < common.index("Rule Large refunds asks 3 reviewers.")
    assert "Rule " not in rows


def test_a_call_asked_for_more_than_once_is_said_and_ticked_once(parking: Parking, alice: Member) -> None:
    run = {"id": "r", "title": "Case 7"}
    first, again = parking(a_call(run=run)), parking(a_call(run=run))
    other = parking(a_call(arguments={**ARGUMENTS, "order_id": "A-2"}))
    text = page(browser(alice), again, other, first)
    assert "1 call is asked for more than once" in text
    note = text.split('id="same-calls"')[1].split("</section>")[0]
    assert re.findall(r'href="/t/acme/requests/([^/]+)/"', note) == [str(first.pk), str(again.pk)]
    assert told(note).count("in “Case 7”, asked") == 2
    assert told(text).count("the same call, asked 2 times") == 2
    assert sorted(ticked(text)) == sorted([str(first.pk), str(other.pk)])
    assert "asked for more than once" not in page(browser(alice), first, other)


def test_a_call_that_is_approved_already_is_not_ticked_again(
    parking: Parking, acme: Tenant, alice: Member, bo: Member
) -> None:
    rule(acme, bo, approvals=2)
    mine, again = parking(), parking()
    decisions.decide(mine.pk, tenant=acme.pk, actor=actor(alice), decision="approve", version=1, channel="page")
    text = page(browser(alice), mine, again)
    assert offered(text) == [str(again.pk)]
    assert ticked(text) == []
    assert "(your approval is in)" in text


def test_another_tool_or_value_is_another_call(parking: Parking, alice: Member) -> None:
    rows = [parking(), parking(a_call(tool="pay")), parking(a_call(arguments={**ARGUMENTS, "count": 2}))]
    assert "the same call" not in page(browser(alice), *rows)


def test_what_was_read_stands_once_for_all_and_else_beside_each(parking: Parking, alice: Member) -> None:
    one, other = (
        parking(a_call(evidence=f'{{"goes_to": "card of {who}", "order_id": "Found.", "bank": "North"}}'))
        for who in ("Ida", "Per")
    )
    dark = parking(a_call(evidence_error="the ledger did not answer"))
    common, rows = told(page(browser(alice), one, other)).split("Fields that differ")
    assert "Read when each was asked, the same of all: order_id: Found. · bank: North" in common
    assert "goes_to: card of Ida" in rows
    assert "goes_to: card of Per" in rows
    assert "North" not in rows
    rows = told(page(browser(alice), one, dark)).split("Fields that differ")[1]
    assert "bank: North" in rows
    assert "not read It could not be read: the ledger did not answer" in rows


def test_what_was_read_can_be_read_whole_beside_the_others_and_is_marked_where_it_deceives(
    parking: Parking, alice: Member
) -> None:
    letters = {who: f"{who} wrote: " + "all of it matters. " * 20 + f"Pay\u202e{who}." for who in ("Ida", "Per")}
    history = "ordered before " * 30 + "and returned it all."
    rows = [
        parking(a_call(evidence=json.dumps({"letter": letter, "history": history, "book": who * 3_000})))
        for who, letter in letters.items()
    ]
    text = page(browser(alice), *rows)
    common, rest = told(text).split("Fields that differ")
    assert f"The whole of it, {len(history)} charactersordered before" in common
    assert "and returned it all." in common
    for who, letter in letters.items():
        assert f"The whole of it, {len(letter)} characters{who} wrote:" in rest
        assert f"PayU+202E right-to-left override{who}." in rest
    assert rest.count("1 hidden character: right-to-left override") == 2
    assert rest.count("Only the beginning of 9000 characters. Open the request to read them all book") == 2
    marks = re.findall(r' id="([^"]+)"', text)
    assert len(marks) == len(set(marks))


def test_a_value_that_is_empty_says_so_beside_one_that_is_not(parking: Parking, alice: Member) -> None:
    rows = [parking(a_call(arguments={**ARGUMENTS, "note": note})) for note in ("", "Cracked.")]
    text = page(browser(alice), *rows)
    assert re.search(r'data-label="note"><span class="quiet">empty</span></td>', text)
    assert re.search(r'data-label="note"><bdi>Cracked\.</bdi></td>', text)


def test_where_nothing_is_read_beside_the_parameters_it_says_so(parking: Parking, alice: Member) -> None:
    assert "the tool has nothing to read for the reviewer" in page(browser(alice), parking(), parking())


def test_what_was_read_of_a_sensitive_parameter_stays_masked(parking: Parking, alice: Member) -> None:
    secret = {**REFUND, "sensitive": ["note"]}
    rows = [parking(a_call(definition=secret, evidence=f'{{"note": "belongs to {who}"}}')) for who in ("Ida", "Per")]
    assert "belongs to" not in page(browser(alice), *rows)


def test_who_takes_back_every_choice_is_told_so_and_finds_the_list_again(parking: Parking, alice: Member) -> None:
    rows = [parking(), parking()]
    response = browser(alice).post(URL, {**sent(*rows, decision="approve"), "request": []})
    assert response.status_code == 422
    assert "Select at least one request." in response.text
    assert offered(response.text) == [str(each.pk) for each in rows]
    assert " checked> <span>" not in response.text


def test_what_was_not_chosen_stays_so_when_the_form_comes_back(parking: Parking, alice: Member) -> None:
    chosen, other = parking(), parking()
    form = {**sent(chosen, other, decision="reject"), "request": [str(chosen.pk)]}
    text = browser(alice).post(URL, form).text
    assert "Write a reason." in text
    assert ticked(text) == [str(chosen.pk)]
    assert offered(text) == [str(chosen.pk), str(other.pk)]


def test_an_approval_that_others_have_to_join_is_told_as_one(acme: Tenant, parking: Parking, alice: Member) -> None:
    rule(acme, alice, approvals=2)
    rows = [parking(a_call(arguments={**ARGUMENTS, "order_id": order})) for order in ("A-1", "A-2")]
    said = told(browser(alice).post(URL, sent(*rows, decision="approve"), follow=True).text)
    assert "2 sent: 2 need more approvals" in said
    assert said.count("needs more approvals") == 2
    assert said.count("Your approval counts. More are needed before it runs.") == 2
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    rows = [parking(a_call(arguments={**ARGUMENTS, "order_id": "A-3"}))]
    said = told(browser(alice).post(URL, sent(*rows, decision="approve"), follow=True).text)
    assert "1 项还需更多批准" in said
    assert "您的批准已计入，还需更多批准才会执行。" in said


def test_the_results_are_counted_and_lead_back_to_the_inbox(parking: Parking, alice: Member) -> None:
    one, other, moved = parking(), parking(), parking()
    form = {**sent(one, other, moved, decision="approve"), f"version.{moved.pk}": "7"}
    text = browser(alice).post(URL, form).text
    assert "3 sent: 2 approved · 1 changed" in text
    assert "<title>Decide together" in text
    assert 'class="button" href="/t/acme/inbox/"' in text.split("One result each")[1]


def test_where_none_was_chosen_it_says_so_and_not_that_they_stand_out(parking: Parking, alice: Member) -> None:
    parking()
    text = page(browser(alice))
    assert "Nothing that waits was chosen" in text
    assert "answered one by one" not in text


def test_of_a_long_value_all_can_be_read_before_it_is_answered(parking: Parking, alice: Member) -> None:
    ends = [f"{'Dear customer. ' * 20}Yours, {who}" for who in ("Ida", "Per")]
    rows = [parking(a_call(arguments={**ARGUMENTS, "note": text})) for text in ends]
    shown = page(browser(alice), *rows)
    assert [shown.count(f">{text}") for text in ends] == [1, 1]
    assert shown.count(f"The whole of it, {len(ends[0])} characters") == 2
    places = re.findall(r'<details[^>]* id="([^"]+)"', shown)
    assert len(set(places)) == len(places)


def test_a_long_value_that_is_the_same_in_all_can_be_read_too(parking: Parking, alice: Member) -> None:
    long = f"{'Dear customer. ' * 20}Yours"
    rows = [parking(a_call(arguments={**ARGUMENTS, "note": long, "order_id": order})) for order in ("A-1", "A-2")]
    assert page(browser(alice), *rows).count(f">{long}") == 1


def test_a_value_too_long_for_the_comparison_says_so_and_leads_to_its_request(parking: Parking, alice: Member) -> None:
    rows = [parking(a_call(arguments={**ARGUMENTS, "note": f"{who} {'x' * 5000}"})) for who in ("Ida", "Per")]
    shown = page(browser(alice), *rows)
    assert shown.count("Only the beginning of 5004 characters.") == 2
    assert all(f'href="/t/acme/requests/{each.pk}/">Open the request to read them all' in shown for each in rows)
