"""A reviewer at work: reading, choosing, answering, and what others do meanwhile."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from approvals import decisions
from approvals.models import ApprovalRequest, Review, Viewing
from tenants.models import Member
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import ARGUMENTS, REFUND, a_call, fresh
from tests.harness.browser import PHONE, WIDE
from tests.journeys.conftest import OpenAs

pytestmark = pytest.mark.journey
INBOX = "/t/acme/inbox/"


def url(request: ApprovalRequest) -> str:
    return f"/t/acme/requests/{request.pk}/"


def decide(request: ApprovalRequest, member: Member, decision: str, **answer: Any) -> None:
    decisions.decide(
        request.pk,
        tenant=request.tenant_id,
        actor=actor(member),
        decision=decision,
        version=1,
        channel="page",
        **answer,
    )


def choose(page: Page, answer: str) -> None:
    page.get_by_role("radio", name=answer).check()


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["390", "1280"])
def test_every_page_of_a_reviewer_is_accessible(
    viewport: dict[str, int],
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    parking: Callable[..., ApprovalRequest],
    alice: Member,
    bo: Member,
) -> None:
    note = "pay\u202e now. " + "All of it matters. " * 40
    seen = [{"tool": "lookup_order", "text": note, "at": "2026-11-30T09:00:00Z", "step": 2}]
    evidence = f'{{"letter": "{"All of it matters. " * 40}"}}'
    shown = parking(a_call(arguments={**ARGUMENTS, "note": note}, evidence=evidence, run={"id": "", "seen": seen}))
    decide(parking(), bo, "reject", comment="No photo.")
    page = open_as(alice, INBOX, viewport)
    for path in (INBOX, "/t/acme/decided/", url(shown) + "edit/", url(shown)):
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        accessible(page)
        boxes = "[...document.querySelectorAll('.scroll:has(.folds)')]"
        assert page.evaluate(f"{boxes}.every((each) => each.scrollWidth <= each.clientWidth)"), path
    body = "[...document.querySelectorAll('textarea')].every((each) => each.scrollHeight <= each.clientHeight)"
    page.goto(url(shown) + "edit/")
    assert page.evaluate(body)
    tops = "['.lead', '.rail'].map((each) => Math.round(document.querySelector(each).getBoundingClientRect().top))"
    lead, rail = page.evaluate(tops)
    assert lead == rail or viewport == PHONE
    page.goto(url(shown))
    wide = (
        "(list) => [...list.querySelectorAll('dd:has(> details)')].map((each) => each.clientWidth / list.clientWidth)"
    )
    for heading, least in (("#seen", 0.99), ("#sent", 0.99 if viewport == PHONE else 0.6)):
        shares = page.locator(f"section:has({heading}) dl").evaluate_all(f"(all) => all.flatMap({wide})")
        assert shares, heading
        assert min(shares) >= least, heading
    for answer in ("Approve", "Reject", "Answer in its place"):
        choose(page, answer)
        accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1100, "height": 900}, WIDE], ids=["390", "1100", "1280"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_comparison_of_long_texts_shows_its_last_column(
    viewport: dict[str, int],
    language: str,
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    parking: Callable[..., ApprovalRequest],
    alice: Member,
) -> None:
    with scope(alice.tenant_id):
        Member.objects.filter(pk=alice.pk).update(locale=language)
    texts = {"type": "object", "properties": {name: {"type": "string"} for name in ("to", "subject", "body")}}
    definition = {**REFUND, "summary": "Send {subject} to {to}", "parameters": texts}
    mails = [
        {
            "to": f"customer-{n}@a-rather-long-name.example",
            "subject": f"Your order A-104{n}",
            "body": f"Hello {n}. " * 9,
        }
        for n in range(3)
    ]
    rows = [parking(a_call(definition=definition, arguments=mail)) for mail in mails]
    page = open_as(alice, f"{INBOX}bulk/?{'&'.join(f'request={each.pk}' for each in rows)}", viewport)
    accessible(page)
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every((box) => box.scrollWidth <= box.clientWidth)")
    narrowest = "Math.min(...[...document.querySelectorAll('.folds tbody td')].map((cell) => cell.clientWidth))"
    assert page.evaluate(narrowest) >= 100


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["390", "1280"])
def test_many_alike_are_compared_and_their_results_read_without_a_move_sideways(
    viewport: dict[str, int],
    open_as: OpenAs,
    accessible: Callable[[Page], None],
    parking: Callable[..., ApprovalRequest],
    alice: Member,
) -> None:
    notes = ("", "onerror=document.title=somethingwithoutaspace", "All of it matters.")
    rows = [
        parking(a_call(arguments={**ARGUMENTS, "order_id": f"A-{n}", "note": note})) for n, note in enumerate(notes)
    ]
    chosen = "&".join(f"request={each.pk}" for each in rows)
    page = open_as(alice, f"{INBOX}bulk/?{chosen}", viewport)
    for step in ("list", "results"):
        accessible(page)
        assert page.evaluate(
            "[...document.querySelectorAll('.scroll')].every((box) => box.scrollWidth <= box.clientWidth)"
        ), step
        if step == "list":
            choose(page, "Approve")
            page.get_by_role("button", name="Approve the selected").click()
            expect(page.get_by_text("3 sent: 3 approved")).to_be_visible()


def test_a_reviewer_reads_chooses_and_approves(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, INBOX)
    page.get_by_role("link", name="Refund 1240.00 EUR for order A-1042").click()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^(Approve|Reject):"))).to_have_count(0)
    choose(page, "Approve")
    page.get_by_role("button", name="Approve: Refund 1240.00 EUR for order A-1042").click()
    expect(page.get_by_text(re.compile("You approved this at"))).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(0)
    assert fresh(parked).status == "approved"


def test_two_clicks_give_one_answer_and_no_error(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, url(parked))
    choose(page, "Approve")
    page.get_by_role("button", name=re.compile("^Approve:")).dblclick(delay=100)
    expect(page.get_by_text(re.compile("You approved this at"))).to_be_visible()
    with scope(parked.tenant_id):
        assert Review.objects.filter(request=parked).count() == 1


def test_it_all_works_without_script(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, url(parked), java_script_enabled=False)
    choose(page, "Approve")
    page.keyboard.press("Enter")
    choose(page, "Reject")
    page.get_by_label("Reason").fill("No photo of the serial number.")
    page.get_by_role("button", name=re.compile("^Reject:")).click()
    expect(page.get_by_text("“No photo of the serial number.”")).to_be_visible()
    assert fresh(parked).status == "rejected"


def test_a_missing_reason_is_said_and_nothing_is_sent(
    open_as: OpenAs, parked: ApprovalRequest, alice: Member, accessible: Callable[[Page], None], complaints: Any
) -> None:
    complaints.allow("422")
    page = open_as(alice, url(parked))
    choose(page, "Reject")
    page.get_by_role("button", name=re.compile("^Reject:")).click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Reason")).to_have_attribute("aria-invalid", "true")
    accessible(page)
    assert fresh(parked).status == "pending"


def test_after_an_answer_back_shows_what_became_of_it(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, INBOX)
    page.goto(url(parked))
    choose(page, "Approve")
    page.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(page.get_by_text(re.compile("You approved this at"))).to_be_visible()
    page.goto(INBOX)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(0)


def test_an_answer_of_somebody_else_takes_the_buttons_away_at_once(
    open_as: OpenAs, parked: ApprovalRequest, alice: Member, bo: Member
) -> None:
    page = open_as(alice, url(parked))
    expect(page.get_by_role("radio", name="Approve")).to_be_visible()
    decide(parked, bo, "reject", comment="No photo of the serial number.")
    expect(page.get_by_text(re.compile("Bo rejected this at"))).to_be_visible()
    expect(page.get_by_role("radio")).to_have_count(0)
    expect(page.locator("#count-inbox")).to_have_text(re.compile("^0"))


def test_what_was_typed_is_kept_when_somebody_else_was_first_and_no_edit_is_offered(
    open_as: OpenAs, parked: ApprovalRequest, alice: Member, bo: Member
) -> None:
    page = open_as(alice, url(parked))
    expect(page.get_by_role("link", name="Edit")).to_be_visible()
    choose(page, "Reject")
    page.get_by_label("Reason").fill("half a sentence")
    decide(parked, bo, "approve")
    expect(page.get_by_text(re.compile("Bo approved this at"))).to_be_visible()
    expect(page.get_by_label("What you had written")).to_have_value("half a sentence")
    expect(page.get_by_role("link", name="Edit")).to_have_count(0)
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile(f"{parked.pk}/$"))


def test_a_new_version_is_said_and_takes_no_words_away(
    open_as: OpenAs, parking: Callable[..., ApprovalRequest], alice: Member, bo: Member, complaints: Any
) -> None:
    complaints.allow("409")
    request = parking(a_call(risk="critical"))
    page = open_as(alice, url(request))
    choose(page, "Reject")
    page.get_by_label("Reason").fill("half a sentence")
    decide(request, bo, "edit", arguments={**ARGUMENTS, "amount": "1190.00"})
    expect(page.get_by_text(re.compile("Bo made version 2 at"))).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("half a sentence")
    page.get_by_role("button", name=re.compile("^Reject:")).click()
    expect(page.get_by_text("You were reading version 1. Nothing was sent; your text is kept.")).to_be_visible()
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)
    choose(page, "Reject")
    expect(page.get_by_label("Reason")).to_have_value("half a sentence")
    assert fresh(request).status == "pending"


def test_new_requests_come_by_themselves_while_nobody_touches_the_list(
    open_as: OpenAs, parked: ApprovalRequest, parking: Callable[..., ApprovalRequest], alice: Member
) -> None:
    page = open_as(alice, INBOX)
    expect(page.locator(".item")).to_have_count(1)
    parking(a_call(arguments={**ARGUMENTS, "order_id": "B-2"}))
    expect(page.get_by_role("link", name="Refund 1240.00 EUR for order B-2")).to_have_count(1)
    expect(page.locator("#count-inbox")).to_have_text(re.compile("^2"))


def test_a_list_in_use_does_not_move_and_what_is_new_waits_behind_a_link(
    open_as: OpenAs, parked: ApprovalRequest, parking: Callable[..., ApprovalRequest], alice: Member, bo: Member
) -> None:
    page = open_as(alice, INBOX)
    page.get_by_role("checkbox", name=re.compile("^Select:")).check()
    parking(a_call(arguments={**ARGUMENTS, "order_id": "B-2"}))
    expect(page.get_by_text("1 new request since you opened this list.")).to_be_visible()
    expect(page.locator(".item")).to_have_count(1)
    decide(parked, bo, "approve")
    expect(page.get_by_text("no longer open")).to_be_visible()
    page.get_by_role("link", name="Show it").click()
    expect(page.get_by_role("link", name="Refund 1240.00 EUR for order B-2")).to_be_visible()


def test_with_the_socket_blocked_the_page_says_so_and_catches_up(
    open_as: OpenAs, parked: ApprovalRequest, alice: Member, bo: Member, complaints: Any
) -> None:
    page = open_as(alice, INBOX)
    page.route_web_socket(re.compile("/live/"), lambda socket: socket.close(code=1013))
    page.clock.install()
    page.goto(url(parked))
    page.clock.run_for(3_000)
    expect(page.get_by_text("Connection lost.")).to_be_visible()
    decide(parked, bo, "reject", comment="No photo.")
    page.clock.run_for(21_000)
    expect(page.get_by_text(re.compile("Bo rejected this at"))).to_be_visible()


def test_the_page_tells_once_that_it_was_seen(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, "/accounts/2fa/")
    with page.expect_response(re.compile("/viewed/$")) as told:
        page.goto(url(parked))
    assert told.value.ok
    with scope(parked.tenant_id):
        assert Viewing.objects.filter(request=parked, member=alice).count() == 1


def test_single_keys_choose_and_never_send(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, url(parked))
    for key, answer in (("a", "Approve"), ("r", "Reject"), ("t", "Answer in its place")):
        page.keyboard.press(key)
        expect(page.get_by_role("radio", name=answer)).to_be_checked()
    page.get_by_label("Result").fill("aert")
    expect(page.get_by_label("Result")).to_have_value("aert")
    expect(page.get_by_role("radio", name="Answer in its place")).to_be_checked()
    told = "document.addEventListener('submit', (event) => { document.title = event.submitter.formMethod; })"
    page.evaluate(told)
    page.get_by_role("radio", name="Answer in its place").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title("dialog")  # Of which a form that stands in none sends nothing.
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("/edit/$"))
    assert fresh(parked).status == "pending"


def test_single_keys_can_be_switched_off(open_as: OpenAs, parked: ApprovalRequest, alice: Member) -> None:
    page = open_as(alice, url(parked))
    page.keyboard.press("?")
    page.get_by_role("checkbox", name="Single keys act on this device").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.get_by_role("radio", checked=True)).to_have_count(0)


def test_j_and_k_walk_the_list_and_x_selects(
    open_as: OpenAs, parked: ApprovalRequest, parking: Callable[..., ApprovalRequest], alice: Member
) -> None:
    parking(a_call(arguments={**ARGUMENTS, "order_id": "B-2"}))
    page = open_as(alice, INBOX)
    page.keyboard.press("j")
    expect(page.locator(".item h3 a").nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("checkbox", name=re.compile("^Select:")).nth(1)).to_be_checked()
    page.keyboard.press("k")
    expect(page.locator(".item h3 a").nth(0)).to_be_focused()
