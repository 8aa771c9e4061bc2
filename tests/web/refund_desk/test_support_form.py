"""The support form lists the cases and takes orders from its own page only."""

import pytest

from tests.web.refund_desk.conftest import Service, Start


@pytest.fixture
def form(start: Start) -> Service:
    return start("form", "examples.refund_desk.form")


def test_every_case_is_listed_and_what_customers_wrote_stays_text(form: Service) -> None:
    with form.client() as client:
        page = client.get("/").text
    assert "咖啡机漏水" in page
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page


def test_before_a_key_was_left_nothing_can_be_started(form: Service) -> None:
    with form.client() as client:
        assert "nothing can be started" in client.get("/").text
        own = {"Origin": str(client.base_url).rstrip("/")}
        answer = client.post("/start", data={"case": "1", "tenant": "acme"}, headers=own)
    assert answer.status_code == 400


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example"])
def test_a_form_of_another_page_starts_nothing(form: Service, origin: str | None) -> None:
    with form.client() as client:
        headers = {"Origin": origin} if origin else {}
        answer = client.post("/start", data={"case": "1", "tenant": "acme"}, headers=headers)
    assert answer.status_code == 415
