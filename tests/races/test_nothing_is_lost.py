"""Twenty comments, an answer and a cancel at once: every 2xx has its event and its entry, and numbers have no gap."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tenants.models import AuditEntry, Event, Member, Tenant
from tenants.scope import scope
from tenants.verification import verify
from tests.api.conftest import ApiClient, read
from tests.cast.journal import Started
from tests.cast.people import Key
from tests.cast.requests import park

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def test_every_answer_that_said_yes_is_in_the_story_and_in_the_audit(
    clerk: Tenant, her_run: Started, mona_key: Key, alice: Member, key_of: Callable[..., Key]
) -> None:
    request = park(clerk, subject=f"run:{her_run.id}", ref="2")
    mona, reviewer = ApiClient(mona_key), ApiClient(key_of(alice))
    run = f"/runs/{her_run.id}"
    decision = {"decision": "approve", "version": 1}
    wishes: list[tuple[ApiClient, str, Any]] = [(mona, f"{run}/comments", {"text": f"note {n}"}) for n in range(20)]
    wishes.insert(7, (reviewer, f"/approval-requests/{request.pk}/decisions", decision))
    wishes.insert(14, (mona, f"{run}/cancel", None))

    def send(wish: tuple[ApiClient, str, Any]) -> tuple[str, int]:
        client, path, body = wish
        try:
            response = client.post(path, body)
            assert response.status_code < 300 or read(response)["code"]
            return path.rpartition("/")[2], response.status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, wishes))
    said_yes = [verb for verb, status in answers if status < 300]
    assert said_yes.count("comments") == 20
    assert said_yes.count("cancel") == 1
    with scope(clerk.pk):
        names = list(Event.objects.filter(subject=f"run:{her_run.id}").order_by("seq").values_list("name", flat=True))
        numbers = list(Event.objects.filter(subject=f"run:{her_run.id}").order_by("seq").values_list("seq", flat=True))
        actions = list(AuditEntry.objects.filter(target=f"run:{her_run.id}").values_list("action", flat=True))
        assert verify().holds
    assert numbers == list(range(1, len(numbers) + 1))
    assert names.count("run.commented") == 20
    assert names.count("run.cancelled") == actions.count("run.cancelled") == 1
    assert names.count("approval.reviewed") == said_yes.count("decisions")
    assert actions.count("run.commented") == 20
