"""The second step of a critical answer: the figures again and a one-time code, on the page and nowhere else."""

import time
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth
from django.test import Client

from approvals.models import ApprovalRequest, Review
from tenants import exact_json
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key
from tests.cast.request_pages import answer, browser, text, url
from tests.cast.requests import a_call, fresh, park

FIGURES = ("1240.00", "EUR", "A-1042")
API = "/api/v1/approval-requests"


@pytest.fixture
def critical(acme: Tenant, alice: Member, bo: Member) -> ApprovalRequest:
    """A critical refund in a tenant that wants a second factor."""
    acme.second_factor = True
    acme.save()
    return park(acme, a_call(risk="critical"))


@pytest.fixture
def secret(alice: Member) -> str:
    """Alice's device: the secret that her one-time codes are made of."""
    made = auth.generate_totp_secret()
    auth.TOTP.activate(alice.person, made)
    return str(made)


def code(secret: str, *, ahead: int = 0) -> str:
    """What the device shows, now or `ahead` periods later."""
    counter = int(time.time()) // 30 + ahead
    return str(auth.format_hotp_value(auth.hotp_value(secret, counter)))


def reviews(request: ApprovalRequest) -> int:
    with scope(request.tenant_id):
        return Review.objects.filter(request=request).count()


def api(key: Key, path: str, body: dict[str, Any]) -> Any:
    told = exact_json.dumps(body)
    return Client().post(f"{API}{path}", told, content_type="application/json", headers=key.headers)


def test_a_critical_answer_asks_for_a_code_and_repeats_the_figures(
    critical: ApprovalRequest, alice: Member, secret: str
) -> None:
    response = answer(browser(alice), critical, "approve", note="Fine.")
    page = text(response)
    assert response.status_code == 403
    assert "You are about to approve:" in page
    step = page[page.index("You are about to approve:") :]
    for figure in FIGURES:
        assert figure in step
    assert 'name="code"' in step
    assert 'name="note" value="Fine."' in step
    assert "This code is not valid" not in page
    assert reviews(critical) == 0


def test_a_wrong_code_is_said_beside_its_field_and_decides_nothing(
    critical: ApprovalRequest, alice: Member, secret: str
) -> None:
    wrong = "000000" if code(secret) != "000000" else "000001"
    response = answer(browser(alice), critical, "approve", confirm="1", code=wrong)
    page = text(response)
    assert response.status_code == 403
    assert "This code is not valid." in page
    assert 'aria-invalid="true"' in page
    assert all(figure in page[page.index("You are about to approve:") :] for figure in FIGURES)
    assert reviews(critical) == 0


def test_the_right_code_lets_the_answer_count(critical: ApprovalRequest, alice: Member, secret: str) -> None:
    response = answer(browser(alice), critical, "approve", confirm="1", code=code(secret), note="Fine.")
    assert response.status_code == 302
    with scope(critical.tenant_id):
        review = Review.objects.get(request=critical)
    assert (review.decision, review.comment, review.channel) == ("approve", "Fine.", "page")


def test_a_code_counts_once(acme: Tenant, critical: ApprovalRequest, alice: Member, secret: str) -> None:
    other, shown = park(acme, a_call(risk="critical")), code(secret)
    client = browser(alice)
    assert answer(client, critical, "approve", confirm="1", code=shown).status_code == 302
    assert answer(client, other, "approve", confirm="1", code=shown).status_code == 403
    assert reviews(other) == 0


def test_a_rejection_of_a_critical_call_wants_the_code_as_well(
    critical: ApprovalRequest, alice: Member, secret: str
) -> None:
    client = browser(alice)
    first = answer(client, critical, "reject", reason="No photo.")
    assert (first.status_code, "You are about to reject:" in text(first)) == (403, True)
    assert answer(client, critical, "reject", reason="No photo.", confirm="1", code=code(secret)).status_code == 302
    assert fresh(critical).status == "rejected"


def test_who_has_no_device_is_told_so(critical: ApprovalRequest, alice: Member) -> None:
    response = answer(browser(alice), critical, "approve")
    assert response.status_code == 403
    assert "You have no second factor yet." in text(response)


def test_another_risk_needs_no_code(acme: Tenant, critical: ApprovalRequest, alice: Member) -> None:
    assert answer(browser(alice), park(acme), "approve").status_code == 302


def test_a_key_cannot_answer_what_wants_a_second_factor(critical: ApprovalRequest, alice_key: Key, secret: str) -> None:
    response = api(alice_key, f"/{critical.pk}/decisions", {"decision": "approve", "version": 1})
    assert response.status_code == 403
    assert exact_json.loads(response.content)["code"] == "second_factor_required"
    assert reviews(critical) == 0


def test_nor_can_a_key_that_sends_a_code_along(critical: ApprovalRequest, alice_key: Key, secret: str) -> None:
    body = {"decision": "approve", "version": 1, "code": code(secret), "fresh_factor": True}
    assert api(alice_key, f"/{critical.pk}/decisions", body).status_code in (403, 422)
    assert reviews(critical) == 0


def test_nor_can_many_be_answered_together(critical: ApprovalRequest, alice_key: Key, secret: str) -> None:
    items = [{"id": str(critical.pk), "version": 1, "decision": "approve"}]
    response = api(alice_key, "/bulk-decisions", {"items": items})
    (result,) = exact_json.loads(response.content)["results"]
    assert (result["status"], result["problem"]["code"]) == (403, "second_factor_required")
    assert reviews(critical) == 0


def test_the_read_page_asks_for_no_code(critical: ApprovalRequest, alice: Member, secret: str) -> None:
    page = text(browser(alice).get(url(critical)))
    assert 'name="decision"' in page
    assert 'name="code"' not in page
