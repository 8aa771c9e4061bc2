"""The clock of a request: it begins when the request is listed, counts seconds whatever zone anybody is in, and ends
everywhere at once."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from approvals import calendars, escalation, requests
from approvals.models import Asked
from approvals.notifications import delivery
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.refusals import Refusal
from tenants.scope import scope
from tests.cast.people import Key
from tests.cast.requests import WORKER, fresh, park, rule
from tests.db.test_escalation import decide, hours_pass
from tests.db.test_webhooks import hook
from tests.harness.outside import Receiver
from tests.web.test_settings_pages import browser

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture
def far_from_here(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The host's clock shows Tokyo's time, the application's zone is New York's."""
    settings.TIME_ZONE = "America/New_York"
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_a_notifier_that_hangs_takes_nothing_of_the_time_to_answer(
    acme: Tenant, ravi: Member, alice: Member, receiver: Receiver
) -> None:
    hook(ravi, receiver)
    receiver.how = "hang"
    rule(acme, alice, response_timeout=8)
    request = park(acme)
    with scope(acme.pk):
        listed = min(Asked.objects.filter(request=request).values_list("since", flat=True))
    assert request.deadline - request.opened_at == timedelta(seconds=8)
    assert request.deadline - listed <= timedelta(seconds=8)
    delivery.sweep(patience=0.1)
    assert fresh(request).status == "pending"
    assert decide(request, alice).request.status == "approved"


@pytest.mark.parametrize("how", ["expired", "cancelled", "approved"])
def test_what_ended_is_out_of_the_list_and_of_its_number_at_once(
    acme: Tenant, alice: Member, bo: Member, how: str
) -> None:
    request, other = park(acme), park(acme)
    page = browser(alice)
    before = page.get("/t/acme/inbox/")
    assert str(request.pk) in before.text
    assert number_shown(before.text) == 2
    if how == "expired":
        hours_pass(request, 25)
        escalation.handle(acme.pk, request.pk)
    elif how == "cancelled":
        with scope(acme.pk):
            hold(request.subject)
            requests.cancel_open(request.subject, actor=WORKER, because="the run was failed by an admin")
    else:
        decide(request, bo)
    after = page.get("/t/acme/inbox/")
    assert str(request.pk) not in after.text
    assert str(other.pk) in after.text
    assert number_shown(after.text) == 1
    with pytest.raises(Refusal) as caught:
        decide(request, alice)
    assert caught.value.status == 409


def number_shown(text: str) -> int:
    """The number beside the inbox in the frame."""
    (found,) = re.findall(r'id="count-inbox-top"[^>]*>(\d+)<', text)
    return int(found)


@pytest.mark.parametrize("change", ["2026-03-29", "2026-10-25"])
def test_a_day_stays_a_day_and_five_in_the_afternoon_stays_it_over_a_clock_change(change: str) -> None:
    zone = "Europe/Oslo"
    day = datetime.fromisoformat(f"{change}T17:00")
    told = calendars.moment(day, ZoneInfo(zone))
    assert told.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M") == f"{change} 17:00"
    start = (day - timedelta(days=1)).replace(tzinfo=ZoneInfo(zone))
    assert (calendars.deadline(start, 24 * 3600) - start.astimezone(UTC)).total_seconds() == 86_400


@pytest.mark.usefixtures("far_from_here")
def test_five_minutes_are_five_minutes_whatever_zone_the_host_and_the_application_are_in(
    acme: Tenant, alice: Member, alice_key: Key
) -> None:
    rule(acme, alice, response_timeout=300)
    request = park(acme)
    assert (request.deadline - request.opened_at).total_seconds() == 300
    assert abs((request.opened_at - datetime.now(UTC)).total_seconds()) < 60
    escalation.sweep()
    assert fresh(request).status == "pending"
    shape = browser(alice).get(
        f"/api/v1/approval-requests/{request.pk}", headers={"Authorization": f"Bearer {alice_key.text}"}
    )
    assert datetime.fromisoformat(shape.json()["deadline"]).utcoffset() is not None
    assert abs((datetime.fromisoformat(shape.json()["deadline"]) - request.deadline).total_seconds()) < 0.001
    hours_pass(request, 301 / 3600)
    escalation.sweep()
    assert fresh(request).status == "expired"
