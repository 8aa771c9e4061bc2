"""The refund desk's tools against the real services."""

import json
import uuid
from decimal import Decimal
from typing import Any

import httpx
import pytest

from examples.refund_desk import orders, tools
from runs.arguments import BadArguments
from runs.errors import InvalidArguments, OutcomeUnknown, RateLimited, Transient
from runs.failures import classify
from runs.tools import Found, NotFound, Tool, ToolContext
from tests.web.refund_desk.conftest import Service
from tests.web.refund_desk.test_ledger import booked
from tests.web.refund_desk.test_mail_sink import listed

REFUND = {"order_id": "A-1042", "amount": "1240.00", "currency": "EUR", "note": "", "rationale": "Broken."}
MAIL = {"to": "maja@lindqvist.example", "subject": "Your refund", "body": "On its way.", "rationale": "Good news."}


@pytest.fixture(autouse=True)
def made(local_dir: object) -> None:
    orders.make()


def context(key: str = "k1") -> ToolContext:
    return ToolContext(
        tenant=uuid.UUID(int=7),
        run_id=uuid.UUID(int=1),
        step=3,
        attempt=1,
        idempotency_key=key,
        _progress=lambda message, done, total: None,
        _store=lambda content, media_type: "",
        _secret=lambda name: "",
    )


def call(tool: Tool, arguments: dict[str, Any], *, key: str = "k1") -> Any:
    return tool(context(key), **tool.bind(json.dumps(arguments)).values)


def asked(function: Any, tool: Tool, arguments: dict[str, Any]) -> Any:
    return function(context(), **tool.bind(json.dumps(arguments)).values)


def test_a_refund_repeated_under_its_key_is_paid_once(ledger: Service) -> None:
    assert call(tools.refund, REFUND) == call(tools.refund, REFUND)
    assert [entry["amount"] for entry in booked(ledger)] == ["1240.00"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"currency": "USD"}, "was paid in EUR, not USD"),
        ({"order_id": "A-9955"}, "No order has the number A-9955"),
        ({"amount": "12345678901234567890.10"}, "more than the order’s total of 1240.00 EUR"),
    ],
)
def test_a_refund_that_cannot_be_right_pays_nothing_and_says_why(
    ledger: Service, changed: dict[str, str], says: str
) -> None:
    with pytest.raises(InvalidArguments, match=says):
        call(tools.refund, {**REFUND, **changed})
    assert booked(ledger) == []


@pytest.mark.parametrize("amount", ["0.00", "-1.00", "1.234", "all of it", -189])
def test_an_amount_that_is_none_never_reaches_the_tool(amount: Any) -> None:
    with pytest.raises(BadArguments):
        tools.refund.bind(json.dumps({**REFUND, "amount": amount}))


def test_the_ground_of_a_refund_gives_way_once_the_order_was_paid_back(ledger: Service) -> None:
    before = asked(tools.refund_ground, tools.refund, REFUND)
    call(tools.refund, REFUND, key="another")
    after = asked(tools.refund_ground, tools.refund, REFUND)
    assert (before["covered"], after["covered"]) == (True, False)
    orders.set_status("A-1042", status="lost")
    assert asked(tools.refund_ground, tools.refund, REFUND)["status"] == "lost"


def test_a_reviewer_sees_what_the_order_says_beside_the_parameters(ledger: Service) -> None:
    call(tools.refund, {**REFUND, "amount": "40.00"}, key="another")
    facts = asked(tools.refund_facts, tools.refund, REFUND)
    assert facts["goes_to"] == "Visa card ending 4242, Maja Lindqvist"
    assert facts["amount"] == ("Equals the order’s total. Refunded so far: 40.00. This pays 40.00 more than is left.")
    dollars = asked(tools.refund_facts, tools.refund, {**REFUND, "currency": "USD", "amount": "5000.00"})
    assert dollars["currency"] == "The order was paid in EUR."
    assert dollars["amount"].startswith("More than the order’s total of 1240.00 EUR.")


def test_a_busy_ledger_is_left_alone_for_as_long_as_it_says(ledger: Service) -> None:
    with pytest.raises(RateLimited, match=r"The ledger is busy; nothing was booked\.") as busy:
        call(tools.refund, {**REFUND, "order_id": "A-1091", "amount": "64.50"})
    assert busy.value.retry_after == 3
    assert booked(ledger) == []


def test_a_key_used_for_another_refund_is_told_in_the_ledgers_words(ledger: Service) -> None:
    call(tools.refund, REFUND)
    with pytest.raises(InvalidArguments, match=r"another refund\. Nothing was booked\."):
        call(tools.refund, {**REFUND, "amount": "1.00"})


def test_a_ledger_that_never_started_got_nothing() -> None:
    with pytest.raises(Transient, match="is not up"):
        call(tools.refund, REFUND)


def test_a_ledger_that_is_gone_refuses_the_connection(ledger: Service) -> None:
    ledger.kill()
    with pytest.raises(httpx.ConnectError) as gone:
        call(tools.refund, REFUND)
    assert classify(gone.value).not_done


def test_a_mail_is_found_again_by_what_its_key_stands_for(mail: Service) -> None:
    assert asked(tools.mail_was_accepted, tools.send_email, MAIL) == NotFound()
    sent = call(tools.send_email, MAIL)
    assert asked(tools.mail_was_accepted, tools.send_email, MAIL) == Found(sent)
    assert [entry["subject"] for entry in listed(mail)] == ["Your refund"]


def test_a_mail_server_that_cannot_be_asked_leaves_the_outcome_unknown(mail: Service) -> None:
    mail.kill()
    with pytest.raises(OutcomeUnknown, match="could not be asked"):
        asked(tools.mail_was_accepted, tools.send_email, MAIL)
    with pytest.raises(Transient, match="was not sent"):
        call(tools.send_email, MAIL)


@pytest.mark.parametrize(
    "changed",
    [{"subject": "Hi\r\nBcc: evil@example.com"}, {"to": "a@b.example, c@d.example"}, {"to": "a@b.example\nCc: c@d.ee"}],
)
def test_headers_cannot_be_smuggled_in(changed: dict[str, str]) -> None:
    with pytest.raises(BadArguments):
        tools.send_email.bind(json.dumps({**MAIL, **changed}))


def test_an_address_with_letters_of_another_script_is_kept_as_it_is(mail: Service) -> None:
    call(tools.send_email, {**MAIL, "to": "\u0430nna@mail.example"})
    assert [entry["recipients"] for entry in listed(mail)] == ["\u0430nna@mail.example"]
    facts = asked(tools.mail_facts, tools.send_email, {**MAIL, "to": "\u0430nna.bianchi@mail.example"})
    assert facts["to"] == "No customer has exactly this address."


def test_a_label_whose_answer_is_lost_may_have_been_printed(carrier: Service) -> None:
    with pytest.raises(httpx.RemoteProtocolError) as lost:
        call(tools.create_label, {"order_id": "A-1063", "sender": "Ines Moreau"})
    assert not classify(lost.value).not_done


def test_a_rule_says_whether_the_order_is_still_in_time() -> None:
    late = call(tools.returns_rule, {"reason": "changed_mind", "order_id": "A-1070"})
    fresh = call(tools.returns_rule, {"reason": "damaged", "order_id": "A-1042"})
    assert (late["in_time"], fresh["in_time"]) == (False, True)


def test_an_order_or_case_that_does_not_exist_is_an_answer_and_no_error(ledger: Service) -> None:
    assert call(tools.lookup_order, {"order_id": "A-9955"})["found"] is False
    assert call(tools.read_mail, {"case": "999"})["found"] is False
    order = call(tools.lookup_order, {"order_id": "A-1042"})
    assert (Decimal(order["total"]), order["refunded_so_far"]) == (Decimal("1240.00"), "0.00")
