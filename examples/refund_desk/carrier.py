"""The carrier: prints return labels, takes no key and cannot be asked afterwards.

Two requests are two labels. For the orders in `LOSES_ANSWER` it prints and then hangs up, which is how a tool whose
outcome nobody can look up ends at the outcome desk. Run it alone with `python -m examples.refund_desk.carrier`.
"""

import json
from http import HTTPStatus
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from examples.refund_desk import pages, place, web
from examples.refund_desk.book import Book, now

TABLES = """
CREATE TABLE IF NOT EXISTS label (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    shop TEXT NOT NULL,
    order_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    printed_at TEXT NOT NULL
) STRICT;
"""

LOSES_ANSWER = {"A-1063", "G-2063"}

Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Parcel(BaseModel):
    """The body of POST /labels."""

    model_config = ConfigDict(extra="forbid", strict=True)

    shop: Text
    order_id: Text
    sender: Text


class Carrier:
    """Prints into its book. There is no way to read it but the page, which is meant for people."""

    def __init__(self) -> None:
        self.book = Book(place.folder() / "carrier.sqlite", tables=TABLES, closed_to_change=("label",))

    def respond(self, request: web.Request) -> web.Answer | None:
        match request.method, request.path:
            case "POST", "/labels":
                return self.print_label(request.body)
            case "GET", "/":
                return self.page()
            case "GET", "/style.css":
                return pages.style()
        return web.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    def print_label(self, body: bytes) -> web.Answer | None:
        try:
            parcel = Parcel.model_validate(json.loads(body))
        except (ValidationError, ValueError):
            return web.problem(HTTPStatus.BAD_REQUEST, "A label needs shop, order_id and sender. None was printed.")
        with self.book.writing() as connection:
            number = connection.execute(
                "INSERT INTO label (shop, order_id, sender, printed_at) VALUES (?, ?, ?, ?)",
                (parcel.shop, parcel.order_id, parcel.sender, now()),
            ).lastrowid
        if parcel.order_id in LOSES_ANSWER:
            return None
        return web.as_json({"label": _number(number), "order_id": parcel.order_id}, status=HTTPStatus.CREATED)

    def page(self) -> web.Answer:
        rows = self.book.rows("SELECT * FROM label ORDER BY number DESC LIMIT 500")
        return pages.page(
            "The carrier’s labels",
            body="<p>What was printed, newest first, at most 500. Programs cannot ask for this; look here to settle "
            "an unknown outcome.</p>"
            + pages.table(("Label", "Printed", "Shop", "Order", "Sender"), rows=map(_line, rows), long=("Sender",)),
        )


def _line(row: dict[str, Any]) -> list[str]:
    rest = [pages.visible(text) for text in (place.shop_name(row["shop"]), row["order_id"], row["sender"])]
    return [_number(row["number"]), pages.moment(row["printed_at"]), *rest]


def _number(number: int | None) -> str:
    return f"L-{number:06d}"


def main() -> None:
    server = web.bind("carrier", Carrier().respond)
    place.announce("carrier", **web.address_of(server))
    server.serve_forever()


if __name__ == "__main__":
    main()
