"""The demo's orders are read from a real SQLite file."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from examples.refund_desk import orders, place


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))


def test_an_order_is_read_from_the_file_as_it_stands_there() -> None:
    with closing(sqlite3.connect(orders.make())) as file, file:
        file.execute("""UPDATE "order" SET total = '12345678901234567890.10' WHERE order_id = 'A-1042'""")
    found = orders.find("A-1042")
    assert found is not None
    assert found.total == Decimal("12345678901234567890.10")


def test_delivery_days_count_back_from_today() -> None:
    orders.make()
    found = orders.find("A-1042")
    assert found is not None
    age = datetime.now(UTC).date() - date.fromisoformat(found.delivered_on)
    assert age in {timedelta(days=4), timedelta(days=5)}  # Midnight may have passed in between.


def test_a_number_that_only_looks_alike_finds_nothing() -> None:
    orders.make()
    assert orders.find("A-10\u200b96") is None
    assert orders.find("a-1042") is None
    assert orders.find("' OR 1=1 --") is None


def test_without_the_file_the_error_says_what_to_start() -> None:
    with pytest.raises(place.NotUp, match="make demo"):
        orders.find("A-1042")


def test_the_status_of_an_order_can_be_changed_from_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    orders.make()
    assert orders.main(["A-1042", "lost"]) == 0
    found = orders.find("A-1042")
    assert found is not None
    assert found.status == "lost"
    assert orders.main(["A-9955", "lost"]) == 1
    assert "No order has the number A-9955." in capsys.readouterr().err
