"""GET of runs, steps, agents and tools: shapes, filters, pages, and who may read what."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tenants import agents
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key, make_key
from tests.cast.plays import Play, announce, switch_on

RUN = ["id", "agent", "version", "title", "status", "reason", "input", "result", "labels", "deadline", "initiators"]
RUN += ["created_at", "updated_at", "finished_at", "waiting_on", "usage"]
STEP = ["seq", "kind", "status", "tool", "arguments", "digest", "rationale", "result", "reason", "request", "attempts"]
STEP += ["settled"]
ATTEMPT = ["number", "kind", "opened_at", "closed_at", "cause", "message", "next_at"]
Plays = Callable[..., Play]


@pytest.fixture
def get(client: Client, mona_key: Key) -> Callable[..., Any]:
    """GET as Mona, a manager, or with another key; the status must be 200 unless told."""

    def ask(path: str, key: Key = mona_key, status: int = 200) -> Any:
        response = client.get(f"/api/v1{path}", headers=key.headers)
        assert response.status_code == status, response.content
        return json.loads(response.content, parse_constant=pytest.fail)

    return ask


def ids(page: dict[str, Any]) -> list[str]:
    return [item["id"] for item in page["items"]]


def test_a_run_is_told_with_the_contracts_names_in_their_order(get: Callable[..., Any], parked_run: Play) -> None:
    run = get(f"/runs/{parked_run.id}")
    assert list(run) == RUN
    assert run["status"] == "waiting_approval"
    assert run["input"] == "go"
    assert run["result"] is None
    assert run["created_at"].count(":") == 3  # The offset is written.
    assert run["usage"] == {
        "model_turns": 1,
        "tool_calls": 2,
        "tokens": 120,
        "cost": None,
        "seconds": run["usage"]["seconds"],
    }


def test_a_parked_run_says_whom_it_waits_for(
    get: Callable[..., Any], parked_run: Play, alice: Member, bo: Member
) -> None:
    (wait,) = get(f"/runs/{parked_run.id}")["waiting_on"]
    assert (wait["kind"], wait["step"]) == ("approval", 3)
    assert {each["name"] for each in wait["members"]} == {"Alice", "Bo"}
    assert {each["member"] for each in wait["members"]} == {str(alice.id), str(bo.id)}
    assert wait["until"] > wait["since"]


def test_an_unknown_outcome_is_waited_for(get: Callable[..., Any], unknown_run: Play) -> None:
    run = get(f"/runs/{unknown_run.id}")
    assert (run["status"], run["reason"]) == ("needs_attention", "unknown_outcome")
    assert [(wait["kind"], wait["step"]) for wait in run["waiting_on"]] == [("outcome", 2)]


def test_steps_are_told_with_their_attempts_and_their_request(get: Callable[..., Any], parked_run: Play) -> None:
    page = get(f"/runs/{parked_run.id}/steps")
    turn, look, refund = page["items"]
    assert page["next"] is None
    assert all(list(step) == STEP for step in page["items"])
    assert [turn["kind"], look["kind"]] == ["model_turn", "tool_call"]
    assert (look["status"], look["result"]) == ("completed", {"found": True})
    assert [list(each) for each in look["attempts"]] == [ATTEMPT]
    assert look["attempts"][0]["kind"] == "call"
    assert refund["status"] == "waiting_approval"
    assert refund["arguments"] == {"order": "A-1", "amount": "12.50"}
    assert refund["rationale"] == "It broke."
    assert refund["request"] == get(f"/runs/{parked_run.id}")["waiting_on"][0]["request"]
    assert refund["attempts"] == []


def test_numbers_come_out_as_they_went_in(client: Client, mona_key: Key, play: Plays) -> None:
    text = '{"id": 9007199254740993, "price": 1.10, "list": [1e2, -0.0], "z": 1, "a": "\\u4f60😀"}'
    run = play(input=text)
    answer = client.get(f"/api/v1/runs/{run.id}", headers=mona_key.headers).content.decode()
    assert '"input":{"id":9007199254740993,"price":1.10,"list":[100,-0.0],"z":1,"a":"你😀"}' in answer


def test_the_steps_go_on_where_a_page_ended(get: Callable[..., Any], parked_run: Play) -> None:
    first = get(f"/runs/{parked_run.id}/steps?limit=2")
    rest = get(f"/runs/{parked_run.id}/steps?limit=2&cursor={first['next']}")
    assert [step["seq"] for step in first["items"] + rest["items"]] == [1, 2, 3]
    assert rest["next"] is None


def test_the_list_is_newest_first_and_goes_on_where_a_page_ended(get: Callable[..., Any], play: Plays) -> None:
    made = [play().id for _ in range(5)]
    first = get("/runs?limit=2")
    second = get(f"/runs?limit=2&cursor={first['next']}")
    third = get(f"/runs?limit=2&cursor={second['next']}")
    assert ids(first) + ids(second) + ids(third) == made[::-1]
    assert third["next"] is None


def test_the_list_is_narrowed_by_what_is_asked(get: Callable[..., Any], play: Plays, parked_run: Play) -> None:
    queued = play(title="Queued", labels={"case": "7", "vip": "yes"})
    assert ids(get("/runs?status=queued")) == [queued.id]
    assert ids(get("/runs?status=queued,waiting_approval")) == [queued.id, parked_run.id]
    assert len(ids(get("/runs?status=open"))) == 2
    assert ids(get("/runs?label=case=7")) == [queued.id]
    assert ids(get("/runs?label=vip")) == [queued.id]
    assert ids(get("/runs?label=case=8")) == []
    assert ids(get("/runs?agent=nobody")) == []
    assert ids(get(f"/runs?since={get(f'/runs/{queued.id}')['created_at'].replace('+', '%2B')}")) == [queued.id]


def test_the_list_is_narrowed_by_what_is_waited_for(
    get: Callable[..., Any], parked_run: Play, unknown_run: Play, alice: Member, mona: Member
) -> None:
    assert ids(get("/runs?waiting_on=approval")) == [parked_run.id]
    assert ids(get("/runs?waiting_on=outcome")) == [unknown_run.id]
    assert ids(get("/runs?waiting_on=attention")) == [unknown_run.id]
    assert ids(get("/runs?waiting_on=time")) == []
    assert ids(get(f"/runs?waiting_on={alice.id}")) == [parked_run.id]
    assert ids(get("/runs?waiting_on=alice@acme.example")) == [parked_run.id]
    assert ids(get("/runs?waiting_on=me")) == []


@pytest.mark.parametrize("query", ["status=gone", "waiting_on=nobody", "limit=0", "limit=201", "since=yesterday"])
def test_a_filter_that_means_nothing_is_refused_by_name(get: Callable[..., Any], query: str) -> None:
    problem = get(f"/runs?{query}", status=422)
    assert problem["code"] == "invalid"
    assert problem["errors"][0]["field"].endswith(query.partition("=")[0])


def test_a_cursor_of_nobody_is_refused(get: Callable[..., Any]) -> None:
    assert get("/runs?cursor=abc", status=400)["code"] == "bad_cursor"


def test_a_manager_reads_every_run_and_others_their_own(
    get: Callable[..., Any], play: Plays, parked_run: Play, alice: Member, ravi: Member, ravi_key: Key, alice_key: Key
) -> None:
    mine = play(by=ravi)
    assert ids(get("/runs")) == [mine.id, parked_run.id]
    assert ids(get("/runs", key=ravi_key)) == [mine.id]
    assert ids(get("/runs", key=alice_key)) == [parked_run.id]


def test_a_restricted_agent_is_hidden_even_from_a_manager(
    get: Callable[..., Any], acme: Tenant, parked_run: Play
) -> None:
    with scope(acme.pk):
        agents.switch("clerk", actor=COMMAND, restricted=True)
    assert ids(get("/runs")) == []
    get(f"/runs/{parked_run.id}", status=404)


def test_a_foreign_run_answers_exactly_like_an_unknown_one(client: Client, stranger_key: Key, parked_run: Play) -> None:
    unknown = parked_run.id[:-4] + "0000"
    for path in ("", "/steps", "/events"):
        answers = [
            client.get(f"/api/v1/runs/{each}{path}", headers=stranger_key.headers)
            for each in (parked_run.id, unknown, "no-id")
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1


def test_a_key_without_the_scope_reads_nothing(client: Client, mona: Member, parked_run: Play) -> None:
    key = make_key(mona, "approvals:read")
    for path in ("/runs", f"/runs/{parked_run.id}", f"/runs/{parked_run.id}/steps", f"/runs/{parked_run.id}/events"):
        answer = client.get(f"/api/v1{path}", headers=key.headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "no_scope")


def test_without_a_key_nothing_is_read(client: Client) -> None:
    answer = client.get("/api/v1/runs")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("count", [20, 200])
def test_the_list_takes_the_same_number_of_queries_however_long(
    get: Callable[..., Any], play: Plays, count: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(count):
        play()
    with django_assert_max_num_queries(22):
        assert len(get("/runs?limit=200")["items"]) == count


def test_agents_are_those_switched_on_and_an_admin_sees_the_others(
    get: Callable[..., Any], acme: Tenant, alice_key: Key, ravi_key: Key
) -> None:
    switch_on(acme)
    announce("spare")
    (clerk,) = get("/agents", key=alice_key)["items"]
    assert clerk == {
        "name": "clerk",
        "enabled": True,
        "restricted": False,
        "stopped": False,
        "versions": ["3"],
        "tools": ["refund", "look_up", "label"],
        "live": True,
    }
    assert [(each["name"], each["enabled"]) for each in get("/agents", key=ravi_key)["items"]] == [
        ("clerk", True),
        ("spare", False),
    ]


def test_tools_tell_the_risk_that_counts_here(get: Callable[..., Any], acme: Tenant, alice_key: Key) -> None:
    switch_on(acme)
    tools = {tool["name"]: tool for tool in get("/tools", key=alice_key)["items"]}
    assert list(tools) == ["label", "look_up", "refund"]
    assert (tools["refund"]["risk"], tools["refund"]["effect"]) == ("high", "keyed")
    assert tools["refund"]["parameters"]["type"] == "object"
    assert tools["label"]["sensitive"] == ["card"]
