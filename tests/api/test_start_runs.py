"""POST /runs: what starts, what is refused and how it is said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from runs.models import Run
from tenants import events
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key, make_key
from tests.cast.plays import switch_on

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.fixture
def post(client: Client, acme: Tenant, alice_key: Key) -> Callable[..., Any]:
    """POST as Alice, or with another key; a body may be text."""
    switch_on(acme)

    def send(body: Any, key: Key = alice_key, path: str = "/runs", **headers: str) -> Any:
        text = body if isinstance(body, str) else json.dumps(body)
        return client.post(f"/api/v1{path}", text, content_type="application/json", headers={**key.headers, **headers})

    return send


def count(tenant: Tenant) -> int:
    with scope(tenant.pk):
        return Run.objects.count()


def test_any_member_starts_a_run_and_is_its_initiator(post: Callable[..., Any], acme: Tenant, alice: Member) -> None:
    answer = post({"agent": "clerk", "input": {"case": "1"}, "title": "Case 1", "labels": {"case": "1"}})
    assert answer.status_code == 201, answer.content
    run = answer.json()
    assert (run["status"], run["title"], run["labels"]) == ("queued", "Case 1", {"case": "1"})
    assert run["initiators"] == [{"member": str(alice.id), "name": "Alice"}]
    assert run["version"] == "3"
    with scope(acme.pk):
        (event,) = events.after(f"run:{run['id']}", 0, 10)
    assert (event.name, event.actor["kind"], event.actor["member"]) == ("run.queued", "key", str(alice.id))


def test_the_lines_of_the_readme_start_a_run_list_it_and_prove_the_audit(
    client: Client, acme: Tenant, alice: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    switch_on(acme, "refund-desk")
    told = README.read_text()
    (scopes,) = re.findall(r"^KEY=.* create_key acme \S+ (.+)\)$", told, re.MULTILINE)
    call_command("create_key", "acme", alice.email, *scopes.split())
    bearer = {"Authorization": f"Bearer {capsys.readouterr().out.strip()}"}
    (body,) = re.findall(r"/api/v1/runs .*\\\n\s*-d '(.+?)' ", told)
    made = client.post("/api/v1/runs", body, content_type="application/json", headers=bearer)
    assert made.status_code == 201, made.content
    assert [each["id"] for each in client.get("/api/v1/runs", headers=bearer).json()["items"]] == [made.json()["id"]]
    assert "python manage.py verify_audit acme" in told
    call_command("verify_audit", "acme")
    assert "acme: proved up to entry" in capsys.readouterr().out
    assert "*Outcome desk* (`/t/acme/outcomes/`)" in told


def test_the_one_it_is_for_is_an_initiator_too(post: Callable[..., Any], alice: Member, bo: Member) -> None:
    for given in (bo.email, str(bo.id)):
        run = post({"agent": "clerk", "input": 1, "on_behalf_of": given}).json()
        assert [each["name"] for each in run["initiators"]] == ["Alice", "Bo"]


@pytest.mark.parametrize("value", ['"text"', "null", "[]", "12345678901234567890", "1.10", '{"b":1,"a":[true]}'])
def test_input_is_any_json_value_and_comes_back_exactly(post: Callable[..., Any], value: str) -> None:
    answer = post(f'{{"agent": "clerk", "input": {value}}}')
    assert answer.status_code == 201, answer.content
    assert f'"input":{value},' in answer.content.decode()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, "bad_json"),
        ('{"agent": "clerk", "input": NaN}', 400, "bad_json"),
        ('{"agent": "clerk", "input": Infinity}', 400, "bad_json"),
        ('{"agent": "clerk", "input": 1e999999999}', 400, "bad_json"),
        ('{"agent": "clerk", "input": "\\u0000"}', 400, "bad_json"),
        ('{"agent": "clerk", "input": "\\ud800"}', 400, "bad_json"),
        ('{"agent": "clerk", "agent": "clerk", "input": 1}', 400, "bad_json"),
        ('{{"agent": "clerk", "input": {}1{}}}'.format("[" * 20_000, "]" * 20_000), 400, "bad_json"),
        ('{"agent": "clerk"}', 422, "invalid"),
        ('{"agent": "clerk", "input": 1, "extra": 1}', 422, "invalid"),
        ('{"agent": "clerk", "input": 1, "deadline": "2001-01-01T00:00:00"}', 422, "invalid"),
        ('{"agent": "clerk", "input": 1, "deadline": "2001-01-01T00:00:00Z"}', 422, "deadline_passed"),
        ('{"agent": "clerk", "input": 1, "deadline": "9999-12-31T23:59:59-14:00"}', 422, "deadline_invalid"),
        ('{"agent": "clerk", "input": 1, "deadline": "0001-01-01T00:00:00+14:00"}', 422, "deadline_passed"),
        ('{"agent": "clerk", "input": 1, "version": "77"}', 422, "version_unknown"),
        ('{"agent": "nobody", "input": 1}', 404, "agent_unknown"),
        ("[]", 422, "invalid"),
    ],
    ids=range(17),
)
def test_what_cannot_be_started_is_refused_by_name(
    post: Callable[..., Any], acme: Tenant, body: str, status: int, code: str
) -> None:
    answer = post(body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert count(acme) == 0


def test_an_agent_that_is_off_here_answers_like_one_that_is_unknown(
    post: Callable[..., Any], stranger_key: Key
) -> None:
    off = post({"agent": "clerk", "input": 1}, key=stranger_key)
    unknown = post({"agent": "nobody", "input": 1}, key=stranger_key)
    assert off.status_code == unknown.status_code == 404
    assert off.json()["code"] == unknown.json()["code"]


def test_a_key_without_the_scope_starts_nothing(post: Callable[..., Any], acme: Tenant, alice: Member) -> None:
    answer = post({"agent": "clerk", "input": 1}, key=make_key(alice, "runs:read", "runs:operate"))
    assert (answer.status_code, answer.json()["code"]) == (403, "no_scope")
    assert count(acme) == 0


def test_a_service_key_starts_for_its_owner(post: Callable[..., Any], service_key: Key, ravi: Member) -> None:
    run = post({"agent": "clerk", "input": 1}, key=service_key).json()
    assert run["initiators"] == [{"member": str(ravi.id), "name": "Ravi"}]


def test_the_same_key_and_body_start_one_run(post: Callable[..., Any], acme: Tenant) -> None:
    header = {"Idempotency-Key": "k-1"}
    first = post('{"agent": "clerk", "input": {"a": 1, "b": 2}}', **header)
    again = post('{ "input": {"b": 2, "a": 1},\n "agent": "clerk"}', **header)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert count(acme) == 1


def test_the_same_key_with_another_body_is_refused(post: Callable[..., Any], acme: Tenant) -> None:
    post({"agent": "clerk", "input": 1}, **{"Idempotency-Key": "k-1"})
    answer = post({"agent": "clerk", "input": 2}, **{"Idempotency-Key": "k-1"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert count(acme) == 1


def test_a_refused_start_keeps_nothing_under_its_key(post: Callable[..., Any], acme: Tenant) -> None:
    header = {"Idempotency-Key": "k-1"}
    assert post({"agent": "late", "input": 1}, **header).status_code == 404
    switch_on(acme, "late")
    assert post({"agent": "late", "input": 1}, **header).status_code == 201


def test_the_command_starts_a_run_and_prints_its_id_alone(
    acme: Tenant, alice: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    switch_on(acme)
    call_command("start_run", "acme", "clerk", "--input", '{"case": "1"}', "--as", alice.email)
    with scope(acme.pk):
        run = Run.objects.get()
    assert capsys.readouterr().out == f"{run.pk}\n"
    assert run.initiators == [alice.pk]


def test_the_command_without_a_person_has_no_initiator(acme: Tenant, capsys: pytest.CaptureFixture[str]) -> None:
    switch_on(acme)
    call_command("start_run", "acme", "clerk", "--input", '"go"')
    with scope(acme.pk):
        run = Run.objects.get()
    assert run.initiators == []
    assert run.started_by["kind"] == "command"


@pytest.mark.parametrize("words", [("acme", "clerk", "--input", "{"), ("acme", "nobody", "--input", "1"),
                                   ("nowhere", "clerk", "--input", "1"),
                                   ("acme", "clerk", "--input", "1", "--as", "x@y.example")])  # fmt: skip
def test_the_command_says_what_is_wrong(acme: Tenant, words: tuple[str, ...]) -> None:
    switch_on(acme)
    with pytest.raises(CommandError, match=r"\.$|create_tenant"):
        call_command("start_run", *words)


def test_the_command_switches_an_agent_on_and_says_so(acme: Tenant, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("enable_agent", "acme", "late")
    assert capsys.readouterr().out == "late is switched on for acme.\n"
    switch_on(acme, "late")
    call_command("start_run", "acme", "late", "--input", "1")
    assert count(acme) == 1
