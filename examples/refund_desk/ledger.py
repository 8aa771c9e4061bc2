"""The ledger: a service of its own process that pays refunds once a key, and keeps its own book of them.

Run it alone with `python -m examples.refund_desk.ledger`.
"""

import json
import sqlite3
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from examples.refund_desk import pages, place, web
from examples.refund_desk.book import Book, now

TABLES = """
CREATE TABLE IF NOT EXISTS refund (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    shop TEXT NOT NULL,
    order_id TEXT NOT NULL,
    amount TEXT NOT NULL,
    currency TEXT NOT NULL,
    note TEXT NOT NULL,
    booked_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS refund_order ON refund (shop, order_id);
CREATE TABLE IF NOT EXISTS arrival (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    answer TEXT NOT NULL,
    arrived_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS arrival_key ON arrival (key);
"""

# Orders the demo uses to show trouble with this service; any other order is served plainly.
LOSES_FIRST_ANSWER = {"A-1090", "G-2090"}
BUSY_AT_FIRST = {"A-1091"}
BUSY_ARRIVALS = 2
BUSY_SECONDS = 3

Amount = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,30}(\.[0-9]{1,2})?$", max_length=33)]


class Order(BaseModel):
    """The body of POST /refunds."""

    model_config = ConfigDict(extra="forbid", strict=True)

    shop: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    order_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    amount: Amount
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    note: Annotated[str, Field(max_length=10_000)] = ""


class Ledger:
    """Answers requests from its book; the book is the only state."""

    def __init__(self) -> None:
        self.book = Book(place.folder() / "ledger.sqlite", tables=TABLES, closed_to_change=("refund", "arrival"))

    def respond(self, request: web.Request) -> web.Answer | None:
        if request.method == "POST":
            return self.pay(request) if request.path == "/refunds" else _nothing_here()
        if request.path == "/style.css":
            return pages.style()
        if request.path == "/":
            return self.page()
        if request.path == "/refunds":
            return web.as_json({"items": self.refunds(request.query)})
        if request.path == "/totals":
            return web.as_json(self.total(request.query))
        if request.path.startswith("/refunds/"):
            return self.one(unquote(request.path.removeprefix("/refunds/")))
        return _nothing_here()

    def pay(self, request: web.Request) -> web.Answer | None:
        """Pays once a key: the same body gets the first answer again, another body 422."""
        key = request.headers.get("idempotency-key", "")
        if not key or len(key) > 255:
            return web.problem(HTTPStatus.BAD_REQUEST, "The header Idempotency-Key is missing or too long.")
        try:
            order = Order.model_validate(json.loads(request.body))
            if Decimal(order.amount) <= 0:
                return web.problem(HTTPStatus.BAD_REQUEST, "amount: must be more than zero.")
        except (ValidationError, ValueError) as error:
            return web.problem(HTTPStatus.BAD_REQUEST, _why(error))
        with self.book.writing() as connection:
            return _pay(connection, key=key, order=order)

    def one(self, key: str) -> web.Answer:
        found = self.book.rows("SELECT * FROM refund WHERE key = ?", key)
        if not found:
            return web.problem(HTTPStatus.NOT_FOUND, "No refund was booked under this key.")
        return web.as_json({**_receipt(found[0]), "arrivals": self.arrivals(key)})

    def arrivals(self, key: str) -> list[dict[str, Any]]:
        return self.book.rows("SELECT answer, arrived_at FROM arrival WHERE key = ? ORDER BY number", key)

    def refunds(self, query: Any) -> list[dict[str, Any]]:
        """The refunds of a shop, or of one order of it, oldest first."""
        rows = self.book.rows(
            "SELECT * FROM refund WHERE (?1 IS NULL OR shop = ?1) AND (?2 IS NULL OR order_id = ?2) ORDER BY number",
            query.get("shop"),
            query.get("order_id"),
        )
        return [{**_receipt(row), "key": row["key"], "shop": row["shop"]} for row in rows]

    def total(self, query: Any) -> dict[str, Any]:
        """What one order of a shop was refunded so far."""
        rows = self.book.rows(
            "SELECT amount FROM refund WHERE shop = ? AND order_id = ?", query.get("shop"), query.get("order_id")
        )
        return {"refunds": len(rows), "refunded": str(sum((Decimal(row["amount"]) for row in rows), Decimal("0.00")))}

    def page(self) -> web.Answer:
        rows = self.book.rows(
            "SELECT r.*, (SELECT count(*) FROM arrival a WHERE a.key = r.key) AS arrivals "
            "FROM refund r ORDER BY number DESC LIMIT 500"
        )
        headings = ("Refund", "Booked", "Shop", "Order", "Amount", "Currency", "Note", "Requests", "Key")
        return pages.page(
            "The ledger’s book",
            body="<p>Each key is paid once. “Requests” says how often it was asked for. Newest first, at most 500.</p>"
            + pages.table(headings, rows=map(_line, rows), long=("Note", "Key")),
        )


def _line(row: dict[str, Any]) -> list[str]:
    shop = pages.visible(place.shop_name(row["shop"]))
    rest = [pages.visible(str(row[name])) for name in ("order_id", "amount", "currency", "note", "arrivals", "key")]
    return [_number(row), pages.moment(row["booked_at"]), shop, *rest]


def _pay(connection: sqlite3.Connection, *, key: str, order: Order) -> web.Answer | None:
    body = order.model_dump_json()
    arrival = connection.execute("SELECT count(*) + 1 FROM arrival WHERE key = ?", (key,)).fetchone()[0]
    found = connection.execute("SELECT * FROM refund WHERE key = ?", (key,)).fetchone()
    if found is None and order.order_id in BUSY_AT_FIRST and arrival <= BUSY_ARRIVALS:
        _note(connection, key=key, answer="busy")
        return web.problem(
            HTTPStatus.TOO_MANY_REQUESTS, "The ledger is busy; nothing was booked.", retry_after=str(BUSY_SECONDS)
        )
    if found is not None and found["body"] != body:
        _note(connection, key=key, answer="other body")
        return web.problem(HTTPStatus.UNPROCESSABLE_ENTITY, "This key was used for another refund. Nothing was booked.")
    _note(connection, key=key, answer="booked" if found is None else "first answer again")
    if found is None:
        found = _book(connection, key=key, order=order, body=body)
    if order.order_id in LOSES_FIRST_ANSWER and arrival == 1:
        return None
    return web.as_json(_receipt(dict(found)), status=HTTPStatus.CREATED)


def _book(connection: sqlite3.Connection, *, key: str, order: Order, body: str) -> sqlite3.Row:
    row: sqlite3.Row = connection.execute(
        "INSERT INTO refund (key, body, shop, order_id, amount, currency, note, booked_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
        (key, body, order.shop, order.order_id, order.amount, order.currency, order.note, now()),
    ).fetchone()
    return row


def _note(connection: sqlite3.Connection, *, key: str, answer: str) -> None:
    connection.execute("INSERT INTO arrival (key, answer, arrived_at) VALUES (?, ?, ?)", (key, answer, now()))


def _number(row: dict[str, Any]) -> str:
    return f"R-{row['number']:06d}"


def _receipt(row: dict[str, Any]) -> dict[str, Any]:
    told = {name: row[name] for name in ("order_id", "amount", "currency", "note", "booked_at")}
    return {"refund": _number(row), **told}


def _why(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc']) or 'body'}: {first['msg']}."
    return "The body is not JSON."


def _nothing_here() -> web.Answer:
    return web.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def main() -> None:
    server = web.bind("ledger", Ledger().respond)
    place.announce("ledger", **web.address_of(server))
    server.serve_forever()


if __name__ == "__main__":
    main()
