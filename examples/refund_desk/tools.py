"""What the refund desk can do: read, pay back, write to the customer, send a return label."""

import hashlib
import smtplib
from datetime import UTC, date, datetime
from decimal import Decimal
from email.message import EmailMessage
from email.utils import formatdate
from http import HTTPStatus
from typing import Annotated, Any, Literal

import httpx
from pydantic import Field, StringConstraints

from examples.refund_desk import cases, orders, place
from runs.errors import InvalidArguments, OutcomeUnknown, RateLimited, Transient
from runs.tools import Effect, Found, NotFound, Risk, ToolContext, tool

SECONDS = 10
MAIL_DOMAIN = "refund-desk.example"

OrderNumber = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Amount = Annotated[Decimal, Field(gt=0, max_digits=30, decimal_places=2)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\r\n]+$")]
Address = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s,;<>]+@[^@\s,;<>]+$")]
Reason = Literal["damaged", "wrong_item", "changed_mind", "not_arrived"]


def service(name: str) -> httpx.Client:
    """A client of one of the demo's services; a service that never started got nothing."""
    try:
        address = place.url(name)
    except place.NotUp as error:
        raise Transient(str(error)) from error
    # The services are on this machine, so no proxy of the environment has a part in it.
    return httpx.Client(base_url=address, timeout=SECONDS, trust_env=False)


def taken(answer: httpx.Response) -> dict[str, Any]:
    """The service's answer. What it refused with a reason did not happen, and the reason is passed on."""
    detail = answer.json().get("detail", "") if answer.headers.get("Content-Type") == "application/json" else ""
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        raise RateLimited(detail, retry_after=float(answer.headers.get("Retry-After", 1)))
    if answer.is_client_error and detail:
        raise InvalidArguments(detail)
    answer.raise_for_status()  # The rest is told apart by its status: a 5xx may have happened.
    found: dict[str, Any] = answer.json()
    return found


# --- reading --------------------------------------------------------------------------------------------


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Read the customer’s mail of case {case}")
def read_mail(ctx: ToolContext, *, case: str) -> dict[str, Any]:
    """Read what the customer wrote. `case` is the number of the case."""
    found = cases.find(case)
    if found is None:
        return {"found": False, "case": case, "message": "No case has this number."}
    sender = f"{found.customer.name} <{found.customer.email}>"
    return {"found": True, "case": found.id, "from": sender, "subject": found.subject, "text": found.message}


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Look up order {order_id}")
def lookup_order(ctx: ToolContext, *, order_id: OrderNumber) -> dict[str, Any]:
    """Read an order: who bought what, what it cost, whether it arrived, what was refunded so far."""
    order = orders.find(order_id)
    if order is None:
        return {"found": False, "order_id": order_id, "message": "No order has this number."}
    return {"found": True, **order.model_dump(mode="json"), "refunded_so_far": refunded(ctx, order_id=order_id)}


@tool(effect=Effect.READ, risk=Risk.LOW, summary="Read the returns rule for {reason}, order {order_id}")
def returns_rule(ctx: ToolContext, *, reason: Reason, order_id: OrderNumber) -> dict[str, Any]:
    """Read what the shop's rules say, and whether the order is still in time."""
    order = orders.find(order_id)
    if order is None:
        raise InvalidArguments(f"No order has the number {order_id}.")
    rule = orders.shop()["returns"][reason]
    age = (datetime.now(UTC).date() - date.fromisoformat(order.delivered_on)).days
    return {"rule": rule["says"], "delivered_days_ago": age, "in_time": age <= rule["days"]}


def refunded(ctx: ToolContext, *, order_id: str) -> str:
    """What the ledger has paid back for an order so far, as a decimal text."""
    with service("ledger") as ledger:
        answer = ledger.get("/totals", params={"shop": str(ctx.tenant), "order_id": order_id})
    return str(taken(answer)["refunded"])


# --- paying back ----------------------------------------------------------------------------------------


def refund_ground(ctx: ToolContext, *, order_id: str, amount: Decimal, **_: Any) -> dict[str, Any]:
    """What has to hold still: the order's status, and that the amount is covered by what is not yet refunded."""
    order = orders.find(order_id)
    if order is None:
        return {"status": "no such order", "covered": False}
    left = order.total - Decimal(refunded(ctx, order_id=order_id))
    return {"status": order.status, "covered": amount <= left}


def refund_facts(ctx: ToolContext, *, order_id: str, amount: Decimal, currency: str, **_: Any) -> dict[str, Any]:
    """What was checked of each parameter, under its name, and what the refund touches besides."""
    order = orders.find(order_id)
    if order is None:
        return {"order_id": "No order has this number."}
    paid_back = refunded(ctx, order_id=order_id)
    too_much = Decimal(paid_back) + amount - order.total
    warned = f" This pays {too_much} more than is left." if too_much > 0 else ""
    same = "Same as the order." if currency == order.currency else f"The order was paid in {order.currency}."
    return {
        "order_id": f"Found. {order.status.capitalize()} {order.delivered_on}, {order.customer}.",
        "amount": f"{of_the_total(amount, order)} Refunded so far: {paid_back}.{warned}",
        "currency": same,
        "goes_to": f"{order.paid_with}, {order.customer}",
        "item": order.item if order.pieces == 1 else f"{order.item}, {order.pieces} pieces",
    }


def of_the_total(amount: Decimal, order: orders.Order) -> str:
    if amount == order.total:
        return "Equals the order’s total."
    much = "More than" if amount > order.total else "Part of"
    return f"{much} the order’s total of {order.total} {order.currency}."


@tool(
    effect=Effect.KEYED,
    risk=Risk.HIGH,
    summary="Refund {amount} {currency} for order {order_id}",
    precondition=refund_ground,
    evidence=refund_facts,
    undo="The bank can recall it for 24 hours. A repeat under the same key is not paid again.",
)
def refund(
    ctx: ToolContext, *, order_id: OrderNumber, amount: Amount, currency: Currency, note: str = ""
) -> dict[str, Any]:
    """Pay money back the way the customer paid. `note` stands in the ledger beside the refund."""
    order = orders.find(order_id)
    if order is None:
        raise InvalidArguments(f"No order has the number {order_id}. Nothing was paid.")
    if currency != order.currency:
        raise InvalidArguments(f"Order {order_id} was paid in {order.currency}, not {currency}. Nothing was paid.")
    if amount > order.total:
        raise InvalidArguments(
            f"{amount} is more than the order’s total of {order.total} {order.currency}. Nothing was paid."
        )
    ctx.progress(f"Paying back {amount} {currency}")
    with service("ledger") as ledger:
        answer = ledger.post(
            "/refunds",
            headers={"Idempotency-Key": ctx.idempotency_key},
            json={
                "shop": str(ctx.tenant),
                "order_id": order_id,
                "amount": f"{amount:f}",
                "currency": currency,
                "note": note,
            },
        )
    return taken(answer)


# --- writing to the customer ----------------------------------------------------------------------------


def message_id(ctx: ToolContext) -> str:
    """The Message-ID that stands for this call: the same at every attempt, another for every other call."""
    return f"<{hashlib.sha256(ctx.idempotency_key.encode()).hexdigest()[:40]}@{MAIL_DOMAIN}>"


def mail_was_accepted(ctx: ToolContext, **_: Any) -> Found | NotFound:
    """Asks the mail server's store for the Message-ID: SMTP takes no key, but what it took can be found again."""
    try:
        with service("mail") as mail:
            answer = mail.get("/messages", params={"message_id": message_id(ctx)})
        answer.raise_for_status()
        found = answer.json()["items"]
    except (Transient, httpx.HTTPError, ValueError) as error:
        raise OutcomeUnknown(f"The mail server could not be asked: {error}") from error
    return Found(_accepted(found[0]["recipients"], identity=message_id(ctx))) if found else NotFound()


def mail_facts(ctx: ToolContext, *, to: str, **_: Any) -> dict[str, Any]:
    """Whether the address is one of a customer, and of which orders."""
    found = orders.of_customer(to)
    if not found:
        return {"to": "No customer has exactly this address."}
    return {"to": f"{found[0].customer}, customer of {', '.join(order.order_id for order in found)}."}


@tool(
    effect=Effect.LOOKUP,
    risk=Risk.HIGH,
    summary="Send e-mail “{subject}” to {to}",
    lookup=mail_was_accepted,
    evidence=mail_facts,
    undo="A message that has been sent cannot be recalled.",
    timeout=30,
)
def send_email(ctx: ToolContext, *, to: Address, subject: Line, body: str) -> dict[str, Any]:
    """Send a plain text message to a customer."""
    message = EmailMessage()
    message["From"] = f"service@{MAIL_DOMAIN}"
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = formatdate(localtime=False)
    message["Message-ID"] = message_id(ctx)
    message.set_content(body)
    ctx.progress("Handing the message to the mail server")
    _hand_over(message, to=to)
    return _accepted(to, identity=message_id(ctx))


def _hand_over(message: EmailMessage, *, to: str) -> None:
    """Speaks SMTP. Only what the server refused, or what never reached it, counts as not done."""
    try:
        port = int(str(place.read("mail")["smtp_port"]))
        with smtplib.SMTP("127.0.0.1", port, timeout=SECONDS) as server:
            server.send_message(message, from_addr=f"service@{MAIL_DOMAIN}", to_addrs=[to])
    except (place.NotUp, ConnectionRefusedError, smtplib.SMTPConnectError) as error:
        raise Transient(f"The mail server is not up; the message was not sent: {error}") from error
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused, smtplib.SMTPNotSupportedError) as error:
        raise InvalidArguments(f"The mail server does not take this address: {error}") from error
    except smtplib.SMTPDataError as error:
        raise Transient(f"The mail server refused the message: {error}") from error


def _accepted(recipients: str, *, identity: str) -> dict[str, Any]:
    return {"accepted": True, "to": recipients, "message_id": identity}


# --- the parcel -----------------------------------------------------------------------------------------


def label_facts(ctx: ToolContext, *, order_id: str, **_: Any) -> dict[str, Any]:
    """Whose order it is."""
    order = orders.find(order_id)
    return {"order_id": f"Found, {order.customer}." if order else "No order has this number."}


@tool(
    effect=Effect.MANUAL,
    risk=Risk.MEDIUM,
    summary="Create a return label for order {order_id}",
    undo="A label that was not used is void after 14 days.",
    evidence=label_facts,
    timeout=20,
)
def create_label(ctx: ToolContext, *, order_id: OrderNumber, sender: Line) -> dict[str, Any]:
    """Have the carrier print a return label. The carrier takes no key and cannot be asked afterwards."""
    if orders.find(order_id) is None:
        raise InvalidArguments(f"No order has the number {order_id}. No label was printed.")
    with service("carrier") as carrier:
        answer = carrier.post("/labels", json={"shop": str(ctx.tenant), "order_id": order_id, "sender": sender})
    return taken(answer)


TOOLS = [read_mail, lookup_order, returns_rule, refund, send_email, create_label]
