"""The demo's ledger pays once a key, and its book survives the process."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.refund_desk.conftest import Service, Start

REFUND = {"shop": "acme", "order_id": "A-1042", "amount": "1240.00", "currency": "EUR", "note": ""}


def pay(service: Service, key: str, **changed: Any) -> httpx.Response:
    with service.client() as client:
        return client.post("/refunds", headers={"Idempotency-Key": key}, json={**REFUND, **changed})


def booked(service: Service) -> list[dict[str, Any]]:
    with service.client() as client:
        items: list[dict[str, Any]] = client.get("/refunds").json()["items"]
        return items


def test_the_same_key_and_body_get_the_first_answer_again(ledger: Service) -> None:
    first, second = pay(ledger, "k1"), pay(ledger, "k1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert len(booked(ledger)) == 1


def test_key_order_and_spacing_do_not_make_another_body(ledger: Service) -> None:
    pay(ledger, "k1")
    text = '{ "note":"", "currency":"EUR",\n "amount":"1240.00", "order_id":"A-1042", "shop":"acme" }'
    with ledger.client() as client:
        again = client.post(
            "/refunds", headers={"Idempotency-Key": "k1", "Content-Type": "application/json"}, content=text
        )
    assert again.status_code == 201
    assert len(booked(ledger)) == 1


def test_the_same_key_with_another_amount_is_refused_and_books_nothing(ledger: Service) -> None:
    pay(ledger, "k1")
    refused = pay(ledger, "k1", amount="1.00")
    assert refused.status_code == 422
    assert [entry["amount"] for entry in booked(ledger)] == ["1240.00"]


def test_twenty_requests_at_once_with_one_key_pay_once(ledger: Service) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: pay(ledger, "k1").json()["refund"], range(20)))
    assert set(answers) == {"R-000001"}
    assert len(booked(ledger)) == 1


def test_a_refund_without_a_key_is_refused(ledger: Service) -> None:
    with ledger.client() as client:
        assert client.post("/refunds", json=REFUND).status_code == 400
    assert booked(ledger) == []


@pytest.mark.parametrize("amount", ["0.00", "-5.00", "1e3", "NaN", "1.234", "", "１２.00", 12.5])
def test_an_amount_that_is_no_positive_decimal_text_is_refused(ledger: Service, amount: Any) -> None:
    assert pay(ledger, "k1", amount=amount).status_code == 400
    assert booked(ledger) == []


def test_an_amount_of_twenty_digits_is_kept_to_the_last_one(ledger: Service) -> None:
    assert pay(ledger, "k1", amount="12345678901234567890.10").json()["amount"] == "12345678901234567890.10"


def test_the_book_survives_kill_9_and_still_knows_its_keys(ledger: Service, start: Start) -> None:
    first = pay(ledger, "k1").json()
    ledger.kill()
    again = start("ledger", "examples.refund_desk.ledger")
    assert pay(again, "k1").json() == first
    assert len(booked(again)) == 1


def test_a_ledger_started_again_keeps_its_address(ledger: Service, start: Start) -> None:
    with ledger.client() as client:
        before = client.base_url
    ledger.kill()
    with start("ledger", "examples.refund_desk.ledger").client() as client:
        assert client.base_url == before


def test_the_book_refuses_change_and_removal(ledger: Service, local_dir: Path) -> None:
    pay(ledger, "k1")
    with closing(sqlite3.connect(local_dir / "demo" / "ledger.sqlite")) as book:
        for statement in ("UPDATE refund SET amount = '0.01'", "DELETE FROM refund"):
            with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                book.execute(statement)


def test_a_lost_answer_was_booked_and_the_same_key_finds_it(ledger: Service) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        pay(ledger, "k1", order_id="A-1090")
    assert len(booked(ledger)) == 1
    assert pay(ledger, "k1", order_id="A-1090").json()["refund"] == "R-000001"
    assert len(booked(ledger)) == 1


def test_a_busy_ledger_says_how_long_to_wait_and_books_at_the_third_request(ledger: Service) -> None:
    busy = [pay(ledger, "k1", order_id="A-1091") for _ in range(2)]
    assert [(answer.status_code, answer.headers["Retry-After"]) for answer in busy] == [(429, "3")] * 2
    assert booked(ledger) == []
    assert pay(ledger, "k1", order_id="A-1091").status_code == 201


def test_a_refund_is_found_by_its_key_with_how_often_it_was_asked_for(ledger: Service) -> None:
    pay(ledger, "k/1")
    pay(ledger, "k/1")
    with ledger.client() as client:
        found = client.get("/refunds/k%2F1").json()
        assert client.get("/refunds/k2").status_code == 404
    assert [arrival["answer"] for arrival in found["arrivals"]] == ["booked", "first answer again"]


def test_totals_are_kept_apart_by_shop(ledger: Service) -> None:
    pay(ledger, "k1")
    pay(ledger, "k2", shop="globex", amount="5.05")
    with ledger.client() as client:
        total = client.get("/totals", params={"shop": "globex", "order_id": "A-1042"}).json()
    assert total == {"refunds": 1, "refunded": "5.05"}


def test_the_page_shows_markup_and_hidden_characters_as_text(ledger: Service) -> None:
    pay(ledger, "k1", note="<script>x</script>\u202e00.1")
    with ledger.client() as client:
        page = client.get("/")
    assert "<script" not in page.text
    assert "&lt;script&gt;x&lt;/script&gt;" in page.text
    assert "\u202e" not in page.text
    assert "U+202E" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_a_page_of_a_stranger_can_neither_pay_nor_read(ledger: Service) -> None:
    with ledger.client() as client:
        headers = {"Idempotency-Key": "k1", "Content-Type": "text/plain"}
        assert client.post("/refunds", headers=headers, content="{}").status_code == 415
        assert client.get("/refunds", headers={"Host": "evil.example"}).status_code == 421
