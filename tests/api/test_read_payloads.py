"""Large values: by reference in answers, whole at their own address, and only for who may read their run."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs import payloads
from runs.entries import Closing, Opening, Stored
from tests.cast.people import Key, make_key
from tests.cast.plays import Play

WHOLE = json.dumps({"text": "😀" * 20_000, "number": 12345678901234567890}, ensure_ascii=False)


@pytest.fixture
def large(play: Callable[..., Play], settings: Any, tmp_path: Any) -> tuple[Play, Stored]:
    """A run whose tool gave back more than a row should hold."""
    settings.STORAGE_URL = f"file://{tmp_path}"
    run = play().begin()
    (seq,) = run.wants(("look_up", {"order": "A-1"}))
    stored = payloads.fit(WHOLE, tenant=run.tenant.pk, run=run.run.pk)
    assert isinstance(stored, Stored)
    run.holder.open(Opening(seq))
    run.holder.close(Closing(seq, "completed", result=stored))
    return run, stored


def test_a_large_result_is_told_by_its_beginning_and_its_reference(
    client: Client, mona_key: Key, large: tuple[Play, Stored]
) -> None:
    run, stored = large
    steps = client.get(f"/api/v1/runs/{run.id}/steps", headers=mona_key.headers).json()["items"]
    assert steps[1]["result"] == {"payload": str(stored.payload), "beginning": stored.beginning}
    assert WHOLE.startswith(stored.beginning)


def test_the_whole_of_it_is_downloaded_as_it_came(client: Client, mona_key: Key, large: tuple[Play, Stored]) -> None:
    answer = client.get(f"/api/v1/payloads/{large[1].payload}", headers=mona_key.headers)
    assert b"".join(answer.streaming_content).decode() == WHOLE  # type: ignore[attr-defined]
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_who_may_not_read_the_run_finds_no_payload(
    client: Client, large: tuple[Play, Stored], alice_key: Key, stranger_key: Key
) -> None:
    unknown = str(large[1].payload)[:-4] + "0000"
    answers = [
        client.get(f"/api/v1/payloads/{each}", headers=key.headers)
        for key in (alice_key, stranger_key)
        for each in (large[1].payload, unknown, "no-id")
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


def test_a_key_without_the_scope_downloads_nothing(client: Client, mona: Any, large: tuple[Play, Stored]) -> None:
    key = make_key(mona, "runs:start")
    assert client.get(f"/api/v1/payloads/{large[1].payload}", headers=key.headers).status_code == 403


def test_the_page_leads_to_the_whole_of_it(client: Client, mona: Any, large: tuple[Play, Stored]) -> None:
    client.force_login(mona.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    page = client.get(f"/t/acme/runs/{large[0].id}/").content.decode()
    assert f"/t/acme/runs/{large[0].id}/steps/2/result/" in page
    whole = client.get(f"/t/acme/runs/{large[0].id}/steps/2/result/")
    assert whole.content.decode() == WHOLE
    assert whole["Content-Type"] == "text/plain; charset=utf-8"


def test_a_payload_that_storage_has_lost_is_said_to_be_gone(
    client: Client, mona_key: Key, large: tuple[Play, Stored], tmp_path: Any
) -> None:
    for path in tmp_path.rglob(str(large[1].payload)):
        path.unlink()
    answer = client.get(f"/api/v1/payloads/{large[1].payload}", headers=mona_key.headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "payload_gone")
