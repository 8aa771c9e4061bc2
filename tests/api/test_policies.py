"""Rules, escalation policies and delegations over HTTP: who may write them, what is refused, what they do."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from approvals.models import Asked, Delegation
from tenants import exact_json, ids
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key, make_member
from tests.cast.plays import announce
from tests.cast.requests import ARGUMENTS, a_call, demanded, group, park, rule

API = "/api/v1"


def send(key: Key, verb: str, path: str, body: Any = None) -> Any:
    text = "" if body is None else exact_json.dumps(body)
    return getattr(Client(), verb)(f"{API}{path}", text, content_type="application/json", headers=key.headers)


def get(key: Key, path: str) -> Any:
    return read(Client().get(f"{API}{path}", headers=key.headers))


def read(response: Any) -> Any:
    return exact_json.loads(response.content)


def approvals_for(tenant: Tenant, **changes: Any) -> tuple[str, int]:
    with scope(tenant.pk):
        need = demanded(a_call(**changes))
    return need.outcome, need.approvals


def test_a_tenant_begins_with_its_default_rule_last(acme: Tenant, ravi_key: Key) -> None:
    items = get(ravi_key, "/policies")["items"]
    assert [(each["default"], each["by_risk"]) for each in items] == [
        (True, {"low": 0, "medium": 0, "high": 1, "critical": 2})
    ]
    send(ravi_key, "post", "/policies", {"name": "First"})
    assert [each["name"] for each in get(ravi_key, "/policies")["items"]] == ["First", "Default"]


def test_a_rule_is_live_at_once(acme: Tenant, ravi_key: Key, alice: Member) -> None:
    group(acme, "Finance", alice)
    body = {
        "name": "Large",
        "tools": ["refund"],
        "when": "args.amount > 1000.0",
        "outcome": "require_approval",
        "approvals": 2,
        "of": [{"group": "Finance", "at_least": 1}],
        "answers": ["approve", "reject"],
        "response_timeout": 600,
        "on_timeout": "fail_run",
    }
    response = send(ravi_key, "post", "/policies", body)
    made = read(response)
    assert response.status_code == 201
    assert (made["live"], made["draft"]) == (1, False)
    assert made["of"][0]["group"] == "Finance"
    assert approvals_for(acme) == ("require_approval", 2)
    assert approvals_for(acme, arguments={**ARGUMENTS, "amount": "1.00"}) == ("require_approval", 1)


def test_a_name_that_no_tool_or_agent_has_is_saved_and_warned_about(acme: Tenant, ravi_key: Key, alice: Member) -> None:
    announce("clerk")
    made = read(send(ravi_key, "post", "/policies", {"name": "R", "tools": ["refnd", "*"], "agents": ["clerk"]}))
    said = ["No registered tool is named “refnd”, so this rule matches no call of it. There is “refund”."]
    assert (made["live"], made["warnings"]) == (1, said)
    path = f"/policies/{made['id']}"
    assert get(ravi_key, path)["warnings"] == said
    changed = read(send(ravi_key, "patch", path, {"tools": ["refund"], "agents": ["klerk"]}))
    said = ["No registered agent is named “klerk”, so this rule matches no call of it. There is “clerk”."]
    assert changed["warnings"] == said
    assert read(send(ravi_key, "post", f"{path}/publish", {"version": 2}))["warnings"] == said
    assert read(send(ravi_key, "patch", path, {"agents": ["clerk"]}))["warnings"] == []


def test_a_draft_counts_once_it_is_published(acme: Tenant, ravi_key: Key) -> None:
    made = read(send(ravi_key, "post", "/policies", {"name": "No", "outcome": "deny", "draft": True}))
    assert (made["live"], made["draft"]) == (None, True)
    assert approvals_for(acme)[0] == "require_approval"
    send(ravi_key, "post", f"/policies/{made['id']}/publish")
    assert approvals_for(acme)[0] == "deny"


def test_versions_are_kept_and_restored(acme: Tenant, ravi_key: Key) -> None:
    rule_id = read(send(ravi_key, "post", "/policies", {"name": "R", "outcome": "deny"}))["id"]
    changed = read(send(ravi_key, "patch", f"/policies/{rule_id}", {"outcome": "allow", "note": "Too strict."}))
    assert (changed["live"], changed["outcome"]) == (2, "allow")
    assert approvals_for(acme)[0] == "allow"
    told = get(ravi_key, f"/policies/{rule_id}/versions")["items"]
    assert [(each["version"], each["outcome"], each["note"]) for each in told] == [
        (2, "allow", "Too strict."),
        (1, "deny", ""),
    ]
    assert told[0]["author"]["name"] == "Ravi"
    send(ravi_key, "post", f"/policies/{rule_id}/publish", {"version": 1})
    assert approvals_for(acme)[0] == "deny"


def test_a_rule_is_archived_and_the_default_stays(acme: Tenant, ravi_key: Key) -> None:
    rule_id = read(send(ravi_key, "post", "/policies", {"name": "R", "outcome": "deny"}))["id"]
    assert send(ravi_key, "delete", f"/policies/{rule_id}").status_code == 204
    assert approvals_for(acme)[0] == "require_approval"
    default = get(ravi_key, "/policies")["items"][-1]["id"]
    assert send(ravi_key, "delete", f"/policies/{default}").status_code == 422


def test_the_default_is_changed_by_risk(acme: Tenant, ravi_key: Key) -> None:
    default = get(ravi_key, "/policies")["items"][-1]["id"]
    table = {"low": 1, "medium": 1, "high": 2, "critical": 3}
    assert send(ravi_key, "patch", f"/policies/{default}", {"by_risk": table}).status_code == 200
    assert approvals_for(acme) == ("require_approval", 2)
    assert approvals_for(acme, risk="low") == ("require_approval", 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Re\u202efunds"}, "name"),
        ({"when": "secret > 1"}, "when"),
        ({"when": "1 +"}, "when"),
        ({"when": "x" * 1001}, "when"),
        ({"outcome": "maybe"}, "outcome"),
        ({"approvals": 0}, "approvals"),
        ({"approvals": "2"}, "approvals"),
        ({"approvals": True}, "approvals"),
        ({"of": [{"group": "Nobody"}]}, "of"),
        ({"of": [{"role": "admin"}]}, "of"),
        ({"of": [{}]}, "of"),
        ({"of": [{"group": "Finance", "member": "x"}]}, "of"),
        ({"answers": []}, "answers"),
        ({"answers": ["maybe"]}, "answers"),
        ({"tools": "refund"}, "tools"),
        ({"tools": []}, "tools"),
        ({"response_timeout": 0}, "response_timeout"),
        ({"on_timeout": "shrug"}, "on_timeout"),
        ({"escalation_policy": "unheard"}, "escalation_policy"),
        ({"of": [{"group": "Finance", "at_least": 3}], "approvals": 2}, "approvals"),
        ({"by_risk": {}}, "by_risk"),
        ({"unheard": 1}, "unheard"),
    ],
)
def test_what_is_no_rule_is_refused_by_its_field(
    acme: Tenant, ravi_key: Key, alice: Member, change: Any, field: str
) -> None:
    group(acme, "Finance", alice)
    response = send(ravi_key, "post", "/policies", {"name": "R", **change})
    assert response.status_code == 422
    assert field in {each["field"] for each in read(response)["errors"]}
    assert len(get(ravi_key, "/policies")["items"]) == 1


def test_a_refused_rule_says_that_nothing_was_changed_and_why(ravi_key: Key) -> None:
    response = send(ravi_key, "post", "/policies", {"name": "R", "of": [{"group": "Nobody"}]})
    assert read(response)["detail"] == "Nothing was changed: There is no group “Nobody”."


def test_a_rule_with_two_faults_names_both(ravi_key: Key) -> None:
    announce()
    body = {"name": "R", "tools": ["refund"], "when": 'args.amout == "1"', "of": [{"group": "Nobody"}]}
    problem = read(send(ravi_key, "post", "/policies", body))
    assert {each["field"] for each in problem["errors"]} == {"of", "when"}
    assert "There is no group “Nobody”." in problem["detail"]
    assert "The tool refund has no parameter amout." in problem["detail"]


def test_only_admins_write_rules(acme: Tenant, alice_key: Key, mona_key: Key, ravi_key: Key) -> None:
    rule_id = read(send(ravi_key, "post", "/policies", {"name": "R"}))["id"]
    for key in (alice_key, mona_key):
        assert send(key, "post", "/policies", {"name": "X"}).status_code == 403
        assert send(key, "patch", f"/policies/{rule_id}", {"outcome": "allow"}).status_code == 403
        assert send(key, "delete", f"/policies/{rule_id}").status_code == 403
        assert send(key, "post", f"/policies/{rule_id}/publish").status_code == 403
        assert send(key, "post", "/escalation-policies", {"name": "X", "levels": []}).status_code == 403


def test_a_stranger_finds_no_rule(acme: Tenant, ravi_key: Key, stranger_key: Key) -> None:
    rule_id = read(send(ravi_key, "post", "/policies", {"name": "R", "outcome": "deny"}))["id"]
    for key in (rule_id, str(ids.new())):
        assert send(stranger_key, "get", f"/policies/{key}").status_code == 404
        assert send(stranger_key, "patch", f"/policies/{key}", {"outcome": "allow"}).status_code == 404
        assert send(stranger_key, "delete", f"/policies/{key}").status_code == 404
        assert send(stranger_key, "put", f"/policies/{key}", {}).status_code in (404, 405)
    assert approvals_for(acme)[0] == "deny"


def test_a_trial_shows_what_would_change_and_saves_nothing(acme: Tenant, ravi_key: Key, alice: Member) -> None:
    for amount in ("10.00", "5000.00", "7000.00"):
        park(acme, a_call(arguments={**ARGUMENTS, "amount": amount}))
    told = read(send(ravi_key, "post", "/policies/trials", {"when": "args.amount > 1000.0", "approvals": 3}))
    assert (told["calls"], told["changed"]) == (3, 2)
    assert (told["before"]["answers"], told["after"]["answers"]) == (3, 7)
    assert told["examples"][0]["after"] == {
        "outcome": "require_approval",
        "approvals": 3,
        "demands": [{"approvals": 3, "places": []}],
        "errors": [],
    }
    assert len(get(ravi_key, "/policies")["items"]) == 1
    blind = read(send(ravi_key, "post", "/policies/trials", {"when": "args.unheard > 1"}))
    assert blind["after"]["not_evaluable"] == 3


def test_every_change_of_a_rule_is_in_the_audit(acme: Tenant, ravi_key: Key) -> None:
    rule_id = read(send(ravi_key, "post", "/policies", {"name": "R"}))["id"]
    send(ravi_key, "patch", f"/policies/{rule_id}", {"approvals": 2})
    send(ravi_key, "post", f"/policies/{rule_id}/publish", {"version": 1})
    send(ravi_key, "delete", f"/policies/{rule_id}")
    with scope(acme.pk):
        entries = AuditEntry.objects.filter(target=f"policy:{rule_id}").order_by("seq").values_list("action", flat=True)
        assert list(entries) == ["policy.created", "policy.changed", "policy.published", "policy.archived"]


def test_an_escalation_policy_is_written_by_names(acme: Tenant, ravi_key: Key, alice: Member, bo: Member) -> None:
    group(acme, "Leads", bo)
    body = {"name": "Chain", "levels": [{"after": 60, "groups": ["Leads"]}, {"after": 120, "members": [alice.email]}]}
    made = read(send(ravi_key, "post", "/escalation-policies", body))
    assert [each["after"] for each in made["levels"]] == [60, 120]
    made_rule = send(ravi_key, "post", "/policies", {"name": "R", "escalation_policy": "Chain"})
    assert read(made_rule)["escalation_policy"] == made["id"]
    changed = send(ravi_key, "patch", f"/escalation-policies/{made['id']}", {"repeats": 2})
    assert read(changed)["repeats"] == 2
    assert [each["name"] for each in get(ravi_key, "/escalation-policies")["items"]] == ["Chain"]
    assert send(ravi_key, "delete", f"/escalation-policies/{made['id']}").status_code == 204
    assert get(ravi_key, "/escalation-policies")["items"] == []


@pytest.mark.parametrize(
    "levels",
    [
        [],
        "x",
        [{}],
        [{"after": 5}],
        [{"after": -1, "groups": ["Leads"]}],
        [{"after": 60, "groups": ["Unheard"]}],
        [{"after": 60, "groups": ["Leads"]}, {"after": 30, "groups": ["Leads"]}],
        [{"after": 60, "rotations": ["night"]}],
        [{"groups": ["Leads"]}],
    ],
)
def test_what_are_no_levels_is_refused(acme: Tenant, ravi_key: Key, bo: Member, levels: Any) -> None:
    group(acme, "Leads", bo)
    response = send(ravi_key, "post", "/escalation-policies", {"name": "Chain", "levels": levels})
    assert response.status_code == 422
    assert read(response)["errors"][0]["field"] == "levels"


def test_a_member_names_a_stand_in(acme: Tenant, alice: Member, alice_key: Key, bo: Member) -> None:
    body = {"to": bo.email, "from": "2026-01-01T00:00:00Z", "until": "2030-01-01T00:00:00+01:00"}
    response = send(alice_key, "post", "/delegations", body)
    made = read(response)
    assert response.status_code == 201
    assert (made["member"], made["to"]) == (str(alice.pk), str(bo.pk))
    assert [each["id"] for each in get(alice_key, "/delegations")["items"]] == [made["id"]]
    assert send(alice_key, "delete", f"/delegations/{made['id']}").status_code == 204
    with scope(acme.pk):
        assert Delegation.objects.get().withdrawn_at is not None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"to": "self"}, "to"),
        ({"to": "manager"}, "to"),
        ({"to": "x@y.example"}, "to"),
        ({"until": "2026-12-03"}, "until"),
        ({"until": "2026-12-03T08:00:00"}, "until"),
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"until": "9999-12-31T23:59:59-14:00"}, "until"),
        ({"from": "0001-01-01T00:00:00+14:00"}, "from"),
    ],
)
def test_what_is_no_delegation_is_refused(
    acme: Tenant, alice: Member, alice_key: Key, bo: Member, mona: Member, change: Any, field: str
) -> None:
    people = {"self": alice.email, "manager": mona.email}
    change = {name: people.get(value, value) for name, value in change.items()}
    body = {"to": bo.email, "until": "2030-01-01T00:00:00Z", **change}
    response = send(alice_key, "post", "/delegations", body)
    assert response.status_code == 422
    assert read(response)["errors"][0]["field"] == field


def test_nobody_sends_somebody_else_away(acme: Tenant, alice_key: Key, bo: Member, ravi_key: Key) -> None:
    carol = make_member(acme, "Carol", "reviewer")
    body = {"to": carol.email, "until": "2030-01-01T00:00:00Z", "member": bo.email}
    assert send(alice_key, "post", "/delegations", body).status_code == 403
    assert send(ravi_key, "post", "/delegations", body).status_code == 201
    assert send(ravi_key, "post", "/delegations", body).status_code == 422


def test_asked_says_why(acme: Tenant, alice: Member, alice_key: Key) -> None:
    group(acme, "Finance", alice)
    with scope(acme.pk):
        assert not Asked.objects.exists()
    rule(acme, alice, of=[{"group": "Finance"}])
    request = park(acme)
    asked = get(alice_key, f"/approval-requests/{request.pk}")["asked"]
    assert [(each["member"], each["level"], each["because"], each["until"]) for each in asked] == [
        (str(alice.pk), 0, "Finance", None)
    ]


def test_a_rule_tells_when_nobody_could_answer(acme: Tenant, ravi_key: Key, alice_key: Key, alice: Member) -> None:
    body = {"name": "Lone", "of": [{"member": alice.email}], "response_timeout": 3600}
    made = read(send(ravi_key, "post", "/policies", {**body, "draft": True}))
    told = get(ravi_key, f"/policies/{made['id']}/coverage")
    assert told["approvals"] == 1
    assert {each["name"] for stretch in told["stretches"] for each in stretch["people"]} == {"Alice"}
    assert all(gap["expires"] for gap in told["gaps"][1:-1])
    inner = told["gaps"][1]
    assert datetime.fromisoformat(inner["until"]) - datetime.fromisoformat(inner["made_until"]) == timedelta(hours=1)
    assert told["short_hours"] == 336 - 80
    draft = read(send(ravi_key, "post", "/policies/coverage", {**body, "working_time": True}))
    assert draft["gaps"] == []
    assert read(send(ravi_key, "post", "/policies/coverage", {"of": [{"group": "Nobody"}]}))["status"] == 422
    assert get(alice_key, f"/policies/{made['id']}/coverage")["status"] == 403
