"""A trial reads what ran unasked and what was refused as well: by the API, on the page, within bounds."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from approvals import clock, trials
from runs import past_calls
from runs.entries import Closing
from runs.models import Step
from tenants import exact_json
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key
from tests.cast.plays import Play
from tests.cast.requests import group, rule
from tests.web.test_admin_pages import RULE, enter, send, words

LOOKED, LABELLED = {"order": "A-1"}, {"order": "A-2", "card": "4111"}


def tried(key: Key, **draft: Any) -> dict[str, Any]:
    text = exact_json.dumps(draft)
    response = Client().post("/api/v1/policies/trials", text, content_type="application/json", headers=key.headers)
    assert response.status_code == 200, response.content
    told: dict[str, Any] = exact_json.loads(response.content)
    return told


def refuse(run: Play, tool: str, values: dict[str, Any]) -> None:
    """The model asks for a call that the rules refuse in the turn's own commit."""
    turn = run.holder.journal.steps[-1].seq
    plan = run._planned(turn, 0, tool, values, "It broke.")._replace(declined="refused", result="Refused.")
    run.holder.close_turn_and_open(Closing(turn, "completed", result=""), plans=[plan])


@pytest.fixture
def past(play: Callable[..., Play]) -> Play:
    """A run that looked an order up unasked, and was refused a label."""
    run = play(title="Broken cup").begin()
    (look,) = run.wants(("look_up", LOOKED))
    run.done(look, {"found": True})
    run.again()
    refuse(run, "label", LABELLED)
    return run


def test_a_call_that_ran_unasked_would_be_asked_about(past: Play, ravi_key: Key) -> None:
    told = tried(ravi_key, tools=["look_up"], when="args.order == 'A-1'", approvals=2)
    assert (told["calls"], told["changed"]) == (2, 1)
    (example,) = told["examples"]
    assert (example["before"]["outcome"], example["after"]["outcome"]) == ("allow", "require_approval")
    assert (example["summary"], example["came_of_it"]) == ("Look up order A-1", "completed")
    assert (example["subject"], example["step"]) == (past.subject, "2")


def test_a_call_that_was_refused_is_told_with_what_a_draft_makes_of_it(
    acme: Tenant, past: Play, ravi: Member, ravi_key: Key
) -> None:
    rule(acme, ravi, tools=["label"], outcome="deny")
    told = tried(ravi_key, tools=["look_up"], outcome="deny")
    assert (told["before"]["deny"], told["after"]["deny"]) == (1, 2)
    with scope(acme.pk):
        live = trials.rules.load().rules[0]
        softer = trials.run({"name": "softer", "tools": ["label"], "outcome": "allow"}, replaces=live.id)  # type: ignore[arg-type]
    assert [(each["came_of_it"], each["after"]["outcome"]) for each in softer["examples"]] == [("refused", "allow")]


def test_the_page_names_the_calls_that_would_newly_be_asked(past: Play, ravi: Member) -> None:
    form = {**RULE, "tools": "look_up", "when": "args.order == 'A-1'", "approvals": "1"}
    text = send(enter(ravi), "settings/policies/new/", do="trial", **form).text
    assert "Look up order A-1" in text
    assert "1 more, 0 fewer" in re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
    assert "Tried on 2 calls of the last 30 days. Asked by the live rules: 0; with the draft: 1." in text
    assert past.id not in text, "an admin reads no runs"


def test_the_page_says_of_whom_more_is_asked_and_leaves_out_where_nothing_is(
    acme: Tenant, past: Play, ravi: Member, alice: Member, bo: Member
) -> None:
    leads = group(acme, "Leads", alice, bo)
    rule(acme, ravi, tools=["look_up"], approvals=2)
    client = enter(ravi)
    form = {**RULE, "tools": "look_up", "when": "", "approvals": "2", "do": "trial"}
    text = send(client, "settings/policies/new/", **form).text
    assert "No call would go another way." in text
    text = send(client, "settings/policies/new/", **{**form, "of": f"group:{leads.pk}"}).text
    row = words(text.partition('id="trial-hint"')[2])
    assert "1 call would go another way. 0 more would have been asked, 0 fewer." in words(text)
    assert "asks 2 of any reviewer" in row
    assert "asks 2 of any reviewer, asks 2 of Leads" in row or "asks 2 of Leads, asks 2 of any reviewer" in row
    with scope(acme.pk):
        Member.objects.filter(pk=ravi.pk).update(locale="zh-hans")
    assert "需 Leads 中 2 人" in send(client, "settings/policies/new/", **{**form, "of": f"group:{leads.pk}"}).text


def test_a_sensitive_value_of_a_past_call_is_masked(past: Play, ravi_key: Key) -> None:
    told = tried(ravi_key, tools=["label"], outcome="deny")
    assert [each["summary"] for each in told["examples"]] == ["Make a label for A-2"]
    assert "4111" not in exact_json.dumps(told)


def test_a_call_that_people_were_asked_about_counts_once(parked_run: Play, ravi_key: Key) -> None:
    told = tried(ravi_key, tools=["*"], approvals=3)
    assert told["calls"] == 2
    assert sorted(each["came_of_it"] for each in told["examples"]) == ["completed", "pending"]


def test_a_call_with_invalid_arguments_is_none_that_rules_judged(play: Callable[..., Play], ravi_key: Key) -> None:
    run = play().begin()
    turn = run.holder.journal.steps[-1].seq
    plan = run._planned(turn, 0, "label", LABELLED, "")._replace(
        declined="invalid", arguments=None, result="There is no order."
    )
    run.holder.close_turn_and_open(Closing(turn, "completed", result=""), plans=[plan])
    assert tried(ravi_key, tools=["*"], approvals=3)["calls"] == 0


def test_a_call_is_as_old_as_the_turn_that_asked_for_it(acme: Tenant, past: Play) -> None:
    with scope(acme.pk):
        Step.objects.filter(run_id=past.run.pk, seq=1).update(last_closed_at=timezone.now() - timedelta(days=31))
        found = list(past_calls.since(clock.now() - trials.PERIOD, 100))
    assert [each.call.tool for each in found] == ["label"]


def test_the_calls_are_bounded_and_cost_the_same_however_many_runs_there_are(
    acme: Tenant, past: Play, play: Callable[..., Play]
) -> None:
    for _number in range(4):
        play().begin().wants(("look_up", LOOKED), ("label", LABELLED))
    with scope(acme.pk, read_only=True):
        start = clock.now() - trials.PERIOD
        assert len(list(past_calls.since(start, 3))) == 3
        with CaptureQueriesContext(connection) as few:
            found = list(past_calls.since(start, 100))
        assert Step.objects.filter(kind="tool_call").count() == len(found) == 10
    assert len(few) <= 6


def test_another_tenants_calls_are_not_read(past: Play, globex: Tenant) -> None:
    with scope(globex.pk, read_only=True):
        assert list(past_calls.since(clock.now() - trials.PERIOD, 100)) == []
