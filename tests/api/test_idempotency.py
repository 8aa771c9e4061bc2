"""A POST sent again under its key is done once; another body, another place or another time is another."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from tenants import groups
from tenants.actors import SYSTEM
from tenants.models import Group, IdempotentAnswer, Tenant
from tenants.scope import scope
from tenants.tasks import tidy
from tests.api.conftest import ApiClient, read
from tests.cast.people import Key

Api = Callable[[Key | None], ApiClient]
KEY = {"Idempotency-Key": "k-1"}


def names(tenant: Tenant) -> list[str]:
    with scope(tenant.pk):
        return list(Group.objects.values_list("name", flat=True))


def test_the_same_body_gets_the_first_answer_again(acme: Tenant, ravi_key: Key, api: Api) -> None:
    first = api(ravi_key).post("/groups", {"name": "a", "members": []}, **KEY)
    again = api(ravi_key).post("/groups", '{ "members" : [], "name" : "a" }', **KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert again["Idempotency-Replayed"] == "true"
    assert names(acme) == ["a"]


def test_another_body_is_a_422_and_does_nothing(acme: Tenant, ravi_key: Key, api: Api) -> None:
    api(ravi_key).post("/groups", {"name": "a"}, **KEY)
    response = api(ravi_key).post("/groups", {"name": "b"}, **KEY)
    assert (response.status_code, read(response)["code"]) == (422, "idempotency_key_reused")
    assert names(acme) == ["a"]


def test_keys_are_of_one_tenant_one_actor_and_one_place(
    acme: Tenant, globex: Tenant, ravi_key: Key, stranger_key: Key, api: Api
) -> None:
    first = read(api(ravi_key).post("/groups", {"name": "a"}, **KEY))
    other = read(api(stranger_key).post("/groups", {"name": "a"}, **KEY))
    key = read(api(ravi_key).post("/keys", {"name": "a", "scopes": ["runs:read"]}, **KEY))
    query = read(api(ravi_key).post("/groups?x=1", {"name": "b"}, **KEY))
    assert len({first["id"], other["id"], key["id"], query["id"]}) == 4


def test_what_was_refused_is_not_kept(acme: Tenant, ravi_key: Key, api: Api) -> None:
    api(ravi_key).post("/groups", {"name": "a"})
    assert api(ravi_key).post("/groups", {"name": "a"}, **KEY).status_code == 422
    with scope(acme.pk):
        assert not IdempotentAnswer.objects.exists()
        groups.delete(Group.objects.get().pk, actor=SYSTEM)
    assert api(ravi_key).post("/groups", {"name": "a"}, **KEY).status_code == 201


def test_a_new_key_is_encrypted_in_what_is_kept(acme: Tenant, ravi_key: Key, api: Api) -> None:
    wish = {"name": "a", "scopes": ["runs:read"]}
    first = read(api(ravi_key).post("/keys", wish, **KEY))
    assert read(api(ravi_key).post("/keys", wish, **KEY))["key"] == first["key"]
    with scope(acme.pk):
        assert first["key"] not in IdempotentAnswer.objects.get().body


@pytest.mark.parametrize("key", ["", "x" * 256, "naïve", "a\tb"])
def test_a_key_that_is_none_is_a_400(ravi_key: Key, api: Api, key: str) -> None:
    response = api(ravi_key).post("/groups", {"name": "a"}, **{"Idempotency-Key": key})
    assert (response.status_code, read(response)["code"]) == (400, "bad_idempotency_key")


def test_after_a_day_the_key_is_free(acme: Tenant, ravi_key: Key, api: Api) -> None:
    api(ravi_key).post("/groups", {"name": "a"}, **KEY)
    with scope(acme.pk):
        IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert api(ravi_key).post("/groups", {"name": "b"}, **KEY).status_code == 201
    with scope(acme.pk):
        IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(hours=25))
    tidy()
    with scope(acme.pk):
        assert not IdempotentAnswer.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_make_one(acme: Tenant, ravi_key: Key, api: Api) -> None:
    def post(_: int) -> tuple[int, Any]:
        try:
            response = api(ravi_key).post("/groups", {"name": "a"}, **KEY)
            return response.status_code, read(response).get("id")
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(20)))
    assert names(acme) == ["a"]
    assert {status for status, _id in answers} <= {201, 409}
    assert len({made for status, made in answers if status == 201}) == 1


@pytest.mark.django_db(transaction=True)
def test_one_that_still_runs_after_two_seconds_is_a_409(acme: Tenant, ravi_key: Key, api: Api) -> None:
    with tenant_row_held(acme), ThreadPoolExecutor(2) as pool:
        slow = pool.submit(_post_and_close, api(ravi_key))
        threading.Event().wait(0.3)
        second = pool.submit(_post_and_close, api(ravi_key)).result()
        assert second == (409, "idempotency_in_progress")
        release.set()
        assert slow.result()[0] == 201
    assert names(acme) == ["a"]


@pytest.mark.django_db(transaction=True)
def test_one_that_failed_in_the_server_runs_when_it_is_sent_again(acme: Tenant, ravi_key: Key, api: Api) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE tenants_groupmember RENAME TO away")
        try:
            failed = api(ravi_key).post("/groups", {"name": "a", "members": ["ravi@acme.example"]}, **KEY)
        finally:
            cursor.execute("ALTER TABLE away RENAME TO tenants_groupmember")
    assert failed.status_code == 500
    assert names(acme) == []
    again = api(ravi_key).post("/groups", {"name": "a", "members": ["ravi@acme.example"]}, **KEY)
    assert again.status_code == 201
    assert names(acme) == ["a"]


release = threading.Event()


@contextmanager
def tenant_row_held(tenant: Tenant) -> Iterator[None]:
    """Holds what a change of members needs, in a transaction of the owner, until `release` is set."""
    release.clear()
    held = threading.Event()

    def hold() -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM tenants_tenant WHERE id = %s FOR NO KEY UPDATE", [tenant.pk])
            held.set()
            release.wait(15)
            cursor.execute("ROLLBACK")
        connections["owner"].close()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(5)
    try:
        yield
    finally:
        release.set()
        holder.join()


def _post_and_close(client: ApiClient) -> tuple[int, Any]:
    try:
        response = client.post("/groups", {"name": "a"}, **KEY)
        return response.status_code, read(response).get("code")
    finally:
        connection.close()
