"""The demo's carrier prints twice for two requests and cannot be asked by programs."""

import httpx
import pytest

from tests.web.refund_desk.conftest import Service

LABEL = {"shop": "acme", "order_id": "A-1042", "sender": "Maja Lindqvist"}


def test_two_requests_are_two_labels(carrier: Service) -> None:
    with carrier.client() as client:
        answers = [client.post("/labels", json=LABEL).json()["label"] for _ in range(2)]
        assert answers == ["L-000001", "L-000002"]
        assert client.get("/labels").status_code == 404


def test_for_some_orders_it_prints_and_hangs_up(carrier: Service) -> None:
    with carrier.client() as client:
        with pytest.raises(httpx.RemoteProtocolError):
            client.post("/labels", json={**LABEL, "order_id": "A-1063"})
        assert "L-000001" in client.get("/").text


def test_a_label_without_a_sender_is_refused(carrier: Service) -> None:
    with carrier.client() as client:
        assert client.post("/labels", json={**LABEL, "sender": ""}).status_code == 400
        assert "L-000001" not in client.get("/").text
