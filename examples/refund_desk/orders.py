"""The shop's orders: an SQLite file made from shop.json when the demo starts, and read by the agent's tools.

To see what happens when the world moves while a request waits, change an order from a shell:
`python -m examples.refund_desk.orders A-1042 lost`.
"""

import json
import os
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from examples.refund_desk import place

SOURCE = Path(__file__).with_name("shop.json")
TABLE = """
CREATE TABLE "order" (
    order_id TEXT PRIMARY KEY, customer TEXT NOT NULL, email TEXT NOT NULL, item TEXT NOT NULL,
    pieces INTEGER NOT NULL, total TEXT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
    delivered_on TEXT NOT NULL, paid_with TEXT NOT NULL
) STRICT;
"""


class Order(BaseModel):
    """One order as the shop has it; `total` is in units of `currency`."""

    model_config = ConfigDict(frozen=True)

    order_id: str
    customer: str
    email: str
    item: str
    pieces: int
    total: Decimal
    currency: str
    status: str
    delivered_on: str
    paid_with: str


def path() -> Path:
    return place.folder() / "orders.sqlite"


def make() -> Path:
    """Writes orders.sqlite anew, in one step, with dates that count back from today."""
    draft = path().with_suffix(f".{os.getpid()}.tmp")
    draft.unlink(missing_ok=True)
    today = datetime.now(UTC).date()
    with closing(sqlite3.connect(draft)) as connection, connection:
        connection.execute(TABLE)
        for entry in shop()["orders"]:
            delivered = (today - timedelta(days=entry["delivered_days_ago"])).isoformat()
            _insert(connection, row={**entry, "delivered_on": delivered})
    draft.replace(path())
    return path()


def _insert(connection: sqlite3.Connection, *, row: dict[str, Any]) -> None:
    connection.execute(
        'INSERT INTO "order" VALUES (:order_id, :customer, :email, :item, :pieces, :total, :currency, :status, '
        ":delivered_on, :paid_with)",
        row,
    )


@cache
def shop() -> dict[str, Any]:
    """shop.json as it stands."""
    content: dict[str, Any] = json.loads(SOURCE.read_text(encoding="utf-8"))
    return content


def find(order_id: str) -> Order | None:
    """The order with exactly this number; raises place.NotUp where no file has been made."""
    return next(iter(_read('SELECT * FROM "order" WHERE order_id = ?', order_id)), None)


def of_customer(email: str) -> list[Order]:
    """The orders of the customer with exactly this address."""
    return _read('SELECT * FROM "order" WHERE email = ? ORDER BY order_id', email)


def _read(query: str, *values: str) -> list[Order]:
    if not path().exists():
        raise place.NotUp("orders.sqlite has not been made. Start the demo with: make demo")
    with closing(sqlite3.connect(f"{path().as_uri()}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [Order.model_validate(dict(row)) for row in connection.execute(query, values)]


def set_status(order_id: str, *, status: str) -> bool:
    """Changes the status of one order; False where there is none with this number."""
    with closing(sqlite3.connect(path())) as connection, connection:
        return connection.execute('UPDATE "order" SET status = ? WHERE order_id = ?', (status, order_id)).rowcount == 1


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("Usage: python -m examples.refund_desk.orders ORDER STATUS", file=sys.stderr)
        return 2
    order_id, status = arguments
    if not set_status(order_id, status=status):
        print(f"No order has the number {order_id}.", file=sys.stderr)
        return 1
    print(f"Order {order_id} is now {status}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
