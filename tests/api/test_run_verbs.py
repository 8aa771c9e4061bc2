"""POST to a run: each verb, who may use it, what it answers when it does not apply, and its replay."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from runs.models import Step
from tenants import events
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key, make_key
from tests.cast.plays import Play

Plays = Callable[..., Play]
VERBS = ("cancel", "pause", "resume", "retry")


@pytest.fixture
def post(client: Client, mona_key: Key) -> Callable[..., Any]:
    """POST to a run as Mona, or with another key; without a body, none is sent."""

    def send(play: Play, verb: str, body: Any = None, key: Key = mona_key, **headers: str) -> Any:
        content = "" if body is None else json.dumps(body)
        path = f"/api/v1/runs/{play.id}/{verb}"
        return client.post(path, content, content_type="application/json", headers={**key.headers, **headers})

    return send


def names(play: Play) -> list[str]:
    with scope(play.tenant.pk):
        return [row.name for row in events.after(play.subject, 0, 100)]


def test_a_manager_pauses_resumes_and_stops(post: Callable[..., Any], parked_run: Play) -> None:
    for verb, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        answer = post(parked_run, verb)
        assert (answer.status_code, answer.json()["status"]) == (200, status), answer.content
    assert names(parked_run)[-1] == "run.cancelled"
    with scope(parked_run.tenant.pk):
        done = [entry.action for entry in AuditEntry.objects.order_by("seq")][-3:]
    assert done == ["run.paused", "run.resumed", "run.cancelled"]


def test_stopping_closes_the_question_and_the_step(
    post: Callable[..., Any], client: Client, mona_key: Key, parked_run: Play
) -> None:
    post(parked_run, "cancel", {"comment": "The customer called."})
    page = client.get(f"/api/v1/runs/{parked_run.id}/steps", headers=mona_key.headers).json()
    refund = page["items"][2]
    assert (refund["status"], refund["reason"]) == ("declined", "cancelled")
    run = client.get(f"/api/v1/runs/{parked_run.id}", headers=mona_key.headers).json()
    assert (run["status"], run["waiting_on"]) == ("cancelled", [])
    assert run["finished_at"] is not None


def test_a_failed_run_is_retried(post: Callable[..., Any], play: Plays, mona: Member) -> None:
    run = play().begin()
    run.fail()
    answer = post(run, "retry").json()
    assert answer["status"] == "queued"
    assert [each["name"] for each in answer["initiators"]] == ["Mona"]


def test_a_budget_leads_out_of_a_budget(post: Callable[..., Any], play: Plays) -> None:
    run = play().begin()
    run.wants(text="More.")
    run.attention("budget")
    assert post(run, "resume").json()["code"] == "budget_required"
    assert post(run, "resume", {"budget": {"tokens": 0}}).status_code == 422
    assert post(run, "resume", {"budget": {"tokens": "9"}}).status_code == 422
    assert post(run, "resume", {"budget": {"tokens": 9000, "cost": "1.50"}}).json()["status"] == "queued"
    assert run.fresh().budget == {"tokens": 9000, "cost": "1.50"}


def test_a_verb_that_does_not_apply_carries_the_standing_state(post: Callable[..., Any], parked_run: Play) -> None:
    post(parked_run, "cancel")
    for verb in VERBS:
        answer = post(parked_run, verb)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "wrong_state")
        assert problem["standing"]["status"] == "cancelled"
        assert problem["standing"]["by"]["name"] == "Mona"
        assert problem["standing"]["at"]
    assert names(parked_run).count("run.cancelled") == 1


def test_comments_are_told_and_change_nothing(post: Callable[..., Any], parked_run: Play, alice_key: Key) -> None:
    answer = post(parked_run, "comments", {"text": "I asked the shop. 你好"}, key=alice_key)
    assert (answer.status_code, answer.json()["status"]) == (201, "waiting_approval")
    with scope(parked_run.tenant.pk):
        last = events.after(parked_run.subject, 0, 100)[-1]
    assert (last.name, last.message) == ("run.commented", "I asked the shop. 你好")


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "   "}, {"text": 7}, {"text": "a", "more": 1}])
def test_a_comment_without_words_is_refused(post: Callable[..., Any], parked_run: Play, body: Any) -> None:
    assert post(parked_run, "comments", body).status_code == 422


def test_settling_records_what_happened(post: Callable[..., Any], client: Client, unknown_run: Play) -> None:
    answer = post(
        unknown_run,
        "steps/2/outcome",
        {"outcome": "completed", "note": "Seen.", "result": {"label": 12345678901234567890}},
    )
    assert (answer.status_code, answer.json()["status"]) == (200, "queued"), answer.content
    with scope(unknown_run.tenant.pk):
        step = Step.objects.get(run_id=unknown_run.run.pk, seq=2)
    assert (step.status, step.result) == ("completed", '{"label":12345678901234567890}')
    assert "step.settled" in names(unknown_run)


def test_a_step_tells_who_settled_it_and_when(
    post: Callable[..., Any], client: Client, unknown_run: Play, mona: Member, mona_key: Key
) -> None:
    def told() -> Any:
        path = f"/api/v1/runs/{unknown_run.id}/steps"
        return [step["settled"] for step in client.get(path, headers=mona_key.headers).json()["items"]]

    assert told() == [None, None]
    assert post(unknown_run, "steps/2/outcome", {"outcome": "completed", "note": "Seen."}).status_code == 200
    nobody, settled = told()
    assert nobody is None
    assert (settled["outcome"], settled["note"]) == ("completed", "Seen.")
    assert (settled["by"]["kind"], settled["by"]["member"]) == ("key", str(mona.pk))
    with scope(unknown_run.tenant.pk):
        event = next(row for row in events.after(unknown_run.subject, 0, 100) if row.name == "step.settled")
    assert datetime.fromisoformat(settled["at"]) == event.at.replace(microsecond=event.at.microsecond // 1000 * 1000)


def test_settling_twice_finds_it_settled(post: Callable[..., Any], unknown_run: Play) -> None:
    assert post(unknown_run, "steps/2/outcome", {"outcome": "not_done", "note": "Looked."}).status_code == 200
    answer = post(unknown_run, "steps/2/outcome", {"outcome": "completed", "note": "Looked."})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_unknown")
    assert answer.json()["standing"]["status"] == "not_done"


def test_a_finished_run_does_nothing_again(post: Callable[..., Any], unknown_run: Play) -> None:
    post(unknown_run, "cancel")
    answer = post(unknown_run, "steps/2/outcome", {"outcome": "do_again", "note": "Looked."})
    assert (answer.status_code, answer.json()["code"]) == (409, "run_finished")
    assert post(unknown_run, "steps/2/outcome", {"outcome": "not_done", "note": "Looked."}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [{"outcome": "completed"}, {"outcome": "completed", "note": " "},
     {"outcome": "completed", "note": "\u200b"}, {"outcome": "maybe", "note": "x"},
     {"outcome": "not_done", "note": "x", "result": 1}],
)  # fmt: skip
def test_half_a_settlement_is_refused(post: Callable[..., Any], unknown_run: Play, body: Any) -> None:
    assert post(unknown_run, "steps/2/outcome", body).status_code == 422
    assert unknown_run.fresh().status == "needs_attention"


def test_an_initiator_settles_nothing(post: Callable[..., Any], play: Plays, mona: Member) -> None:
    run = play(by=mona).begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "1"}))
    run.lost(label)
    run.attention("unknown_outcome")
    answer = post(run, f"steps/{label}/outcome", {"outcome": "completed", "note": "I know."})
    assert (answer.status_code, answer.json()["code"]) == (403, "initiator")


@pytest.mark.parametrize("verb", [*VERBS, "steps/3/outcome"])
def test_who_is_no_manager_operates_nothing(
    post: Callable[..., Any], acme: Tenant, parked_run: Play, alice_key: Key, verb: str
) -> None:
    body = {"outcome": "completed", "note": "x"} if "outcome" in verb else None
    answer = post(parked_run, verb, body, key=alice_key)
    assert answer.status_code == 403
    assert parked_run.fresh().status == "waiting_approval"
    with scope(acme.pk):
        assert AuditEntry.objects.filter(refused=True, channel="api").count() == 1


def test_an_initiator_stops_a_run_and_does_not_pause_it(
    post: Callable[..., Any], play: Plays, ravi: Member, ravi_key: Key
) -> None:
    run = play(by=ravi)
    assert post(run, "pause", key=ravi_key).status_code == 403
    assert post(run, "cancel", key=ravi_key).json()["status"] == "cancelled"


@pytest.mark.parametrize("verb", [*VERBS, "comments", "steps/3/outcome"])
def test_a_key_without_the_scope_operates_nothing(
    post: Callable[..., Any], parked_run: Play, mona: Member, verb: str
) -> None:
    bodies = {"comments": {"text": "x"}, "steps/3/outcome": {"outcome": "completed", "note": "x"}}
    answer = post(parked_run, verb, bodies.get(verb), key=make_key(mona, "runs:read", "runs:start"))
    assert (answer.status_code, answer.json()["code"]) == (403, "no_scope")


@pytest.mark.parametrize("verb", [*VERBS, "comments", "steps/3/outcome"])
def test_a_foreign_run_answers_exactly_like_an_unknown_one(
    client: Client, parked_run: Play, stranger_key: Key, verb: str
) -> None:
    bodies = {"comments": {"text": "x"}, "steps/3/outcome": {"outcome": "completed", "note": "x"}}
    answers = [
        client.post(
            f"/api/v1/runs/{each}/{verb}",
            json.dumps(bodies.get(verb, {})) if verb != "retry" else "",
            content_type="application/json",
            headers=stranger_key.headers,
        )
        for each in (parked_run.id, parked_run.id[:-4] + "0000")
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert parked_run.fresh().status == "waiting_approval"


def test_a_verb_again_under_its_key_gets_the_first_answer(post: Callable[..., Any], parked_run: Play) -> None:
    first = post(parked_run, "cancel", {}, **{"Idempotency-Key": "stop-1"})
    again = post(parked_run, "cancel", {}, **{"Idempotency-Key": "stop-1"})
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.content == again.content
    other = post(parked_run, "comments", {"text": "x"}, **{"Idempotency-Key": "stop-1"})
    assert other.status_code == 201
    assert names(parked_run).count("run.cancelled") == 1


@pytest.mark.parametrize("verb", [*VERBS, "comments"])
def test_a_get_of_a_verb_is_refused(client: Client, parked_run: Play, mona_key: Key, verb: str) -> None:
    answer = client.get(f"/api/v1/runs/{parked_run.id}/{verb}", headers=mona_key.headers)
    assert answer.status_code == 405
    assert answer["Content-Type"] == "application/problem+json"
