"""A draft tried on the calls of the last 30 days: also on those that nobody was asked about."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tenants.models import Tenant
from tests.cast.people import Key
from tests.cast.plays import Play

Plays = Callable[..., Play]


def trial(key: Key, **draft: Any) -> Any:
    body = json.dumps(draft)
    answer = Client().post("/api/v1/policies/trials", body, content_type="application/json", headers=key.headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_call_that_simply_ran_would_be_asked_about(acme: Tenant, ravi_key: Key, parked_run: Play) -> None:
    told = trial(ravi_key, tools=["look_up"], outcome="require_approval")
    assert (told["calls"], told["changed"]) == (2, 1)
    assert (told["before"]["require_approval"], told["after"]["require_approval"]) == (1, 2)
    (example,) = told["examples"]
    assert (example["summary"], example["came_of_it"]) == ("Look up order A-1", "completed")
    assert (example["before"]["outcome"], example["after"]["outcome"]) == ("allow", "require_approval")


def test_each_call_counts_once(acme: Tenant, ravi_key: Key, parked_run: Play) -> None:
    assert trial(ravi_key, tools=["nothing"])["calls"] == 2


def test_calls_of_another_tenant_are_not_tried(acme: Tenant, stranger_key: Key, parked_run: Play) -> None:
    assert trial(stranger_key, outcome="deny")["calls"] == 0


def test_the_default_is_tried_in_its_own_place(acme: Tenant, ravi_key: Key, parked_run: Play) -> None:
    items = Client().get("/api/v1/policies", headers=ravi_key.headers).json()["items"]
    table = {"low": 1, "medium": 1, "high": 1, "critical": 2}
    told = trial(ravi_key, by_risk=table, replaces=items[-1]["id"])
    assert (told["before"]["require_approval"], told["after"]["require_approval"]) == (1, 2)


@pytest.mark.parametrize("count", [1, 4])
def test_it_costs_the_same_however_many_calls_there_are(
    acme: Tenant, ravi_key: Key, play: Plays, count: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(count):
        run = play().begin()
        run.wants(*[("look_up", {"order": f"A-{number}"}) for number in range(count)])
    with django_assert_max_num_queries(30):
        assert trial(ravi_key, outcome="deny")["calls"] == count * count
