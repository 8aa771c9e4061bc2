"""`/metrics` shows what runs, what waits and what is late, over all tenants, and never whose."""

from typing import Any

import pytest
from django.test import Client

from approvals.models import ApprovalRequest, Delivery
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast import runs


def page(client: Client, **headers: str) -> str:
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def numbers(told: str) -> dict[str, int]:
    lines = (line.rsplit(" ", 1) for line in told.splitlines() if not line.startswith("#"))
    return {name: int(value) for name, value in lines}


def test_runs_of_all_tenants_are_counted_by_state(client: Client, acme: Tenant, globex: Tenant) -> None:
    for tenant in (acme, globex, globex):
        runs.start(tenant)
    found = numbers(page(client))
    assert found['vermilion_runs{state="queued"}'] == 3
    assert found['vermilion_runs{state="running"}'] == 0
    assert found["vermilion_approval_requests_pending"] == 0


@pytest.mark.usefixtures("db")
def test_every_number_is_there_though_nothing_is(client: Client) -> None:
    found = numbers(page(client))
    assert set(found.values()) == {0}
    assert 'vermilion_overdue_seconds{kind="deliveries"}' in found


def test_what_was_tried_and_given_up_is_counted_by_transport(
    client: Client, acme: Tenant, alice: Member, parked: ApprovalRequest
) -> None:
    ends = [(12, "550 no such user"), (0, "the channel is switched off"), (1, "no longer needed")]
    with scope(acme.pk):
        for number, (attempts, error) in enumerate(ends):
            row = Delivery(tenant_id=acme.pk, request=parked, member=alice, kind="asked", key=str(number), address="a")
            row.save(force_insert=True)
            Delivery.objects.filter(pk=row.pk).update(status="given_up", attempts=attempts, error=error)
    found = numbers(page(client))
    assert found['vermilion_deliveries_given_up{transport="email"}'] == 1
    assert found['vermilion_deliveries_given_up{transport="webhook"}'] == 0


def test_no_word_tells_whose_they_are(client: Client, acme: Tenant) -> None:
    runs.start(acme)
    told = page(client)
    assert "acme" not in told.lower()
    assert str(acme.pk) not in told


@pytest.mark.usefixtures("db")
def test_a_token_that_is_set_is_demanded(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = "a word"
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={"authorization": "Bearer another"}).status_code == 401
    assert "vermilion_runs" in page(client, authorization="Bearer a word")
