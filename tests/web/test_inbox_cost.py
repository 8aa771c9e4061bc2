"""What the inbox costs: the same number of queries however many requests wait."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tenants.models import Member, Tenant
from tests.cast.request_pages import browser, text
from tests.cast.requests import park

ADDRESS = "/t/acme/inbox/"


def queries(member: Member, path: str = ADDRESS) -> tuple[int, str]:
    client = browser(member)
    client.get(path)
    with CaptureQueriesContext(connection) as found:
        page = text(client.get(path))
    return len(found), page


@pytest.mark.parametrize("path", [ADDRESS, f"{ADDRESS}?view=groups"])
def test_twenty_and_two_hundred_requests_cost_the_same_queries(
    acme: Tenant, alice: Member, bo: Member, path: str
) -> None:
    for _number in range(20):
        park(acme)
    few, page = queries(alice, path)
    assert "Refund 1240.00 EUR" in page
    for _number in range(180):
        park(acme)
    many, page = queries(alice, path)
    assert "Refund 1240.00 EUR" in page
    assert many == few
    assert many <= 28
