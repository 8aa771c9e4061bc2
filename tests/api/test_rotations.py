"""Rotations over HTTP: who may write them, what is none, who is on call, and who steps in."""

from datetime import timedelta
from typing import Any

import pytest

from approvals import clock
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.api.test_policies import get, read, send
from tests.cast.people import Key


def body_of(*people: Member, **changes: Any) -> dict[str, Any]:
    day = (clock.now() - timedelta(hours=1)).date().isoformat()
    return {
        "name": "Nights",
        "zone": "Europe/Oslo",
        "every": "week",
        "handover": "00:00",
        "first_day": day,
        "members": [each.email for each in people],
        **changes,
    }


@pytest.fixture
def nights(acme: Tenant, alice: Member, bo: Member, ravi_key: Key) -> dict[str, Any]:
    """A rotation of Alice and Bo in which it is Alice's turn."""
    response = send(ravi_key, "post", "/rotations", body_of(alice, bo))
    assert response.status_code == 201
    made: dict[str, Any] = read(response)
    return made


def test_a_rotation_says_who_is_on_call_now_and_next(nights: dict[str, Any], ravi_key: Key) -> None:
    assert [each["name"] for each in nights["members"]] == ["Alice", "Bo"]
    assert nights["on_call"]["name"] == "Alice"
    turns = get(ravi_key, f"/rotations/{nights['id']}/turns")["items"]
    assert [each["name"] for each in turns] == ["Alice", "Bo", "Alice"][: len(turns)]
    assert [one["until"] for one in turns[:-1]] == [two["from"] for two in turns[1:]]
    assert get(ravi_key, f"/rotations/{nights['id']}/turns?days=93")["status"] == 422


def test_nobody_is_on_call_before_the_first_day(acme: Tenant, alice: Member, ravi_key: Key) -> None:
    day = (clock.now() + timedelta(days=5)).date()
    made = read(send(ravi_key, "post", "/rotations", body_of(alice, first_day=day.isoformat(), zone="UTC")))
    assert made["on_call"] is None
    turns = get(ravi_key, f"/rotations/{made['id']}/turns")["items"]
    assert [each["member"] for each in turns][:2] == [None, str(alice.pk)]
    assert turns[0]["until"] == turns[1]["from"]
    assert turns[0]["until"].startswith(f"{day}T00:00:00")


def test_a_rotation_is_changed_and_archived(acme: Tenant, nights: dict[str, Any], ravi_key: Key, bo: Member) -> None:
    url = f"/rotations/{nights['id']}"
    changed = read(send(ravi_key, "patch", url, {"members": [bo.email], "every": "day"}))
    assert (changed["every"], [each["name"] for each in changed["members"]]) == ("day", ["Bo"])
    assert changed["on_call"]["name"] == "Bo"
    assert (changed["zone"], changed["handover"]) == ("Europe/Oslo", "00:00")
    level = {"after": 60, "rotations": ["Nights"]}
    policy = read(send(ravi_key, "post", "/escalation-policies", {"name": "P", "levels": [level]}))
    assert [each["name"] for each in policy["levels"][0]["rotations"]] == ["Nights"]
    refused = send(ravi_key, "delete", url)
    assert (refused.status_code, "P" in read(refused)["errors"][0]["message"]) == (422, True)
    assert send(ravi_key, "delete", f"/escalation-policies/{policy['id']}").status_code == 204
    assert send(ravi_key, "delete", url).status_code == 204
    assert get(ravi_key, "/rotations")["items"] == []
    assert send(ravi_key, "post", "/escalation-policies", {"name": "Q", "levels": [level]}).status_code == 422


def test_somebody_else_steps_in_and_out(
    acme: Tenant, nights: dict[str, Any], ravi_key: Key, mona_key: Key, bo: Member
) -> None:
    url = f"/rotations/{nights['id']}"
    until = (clock.now() + timedelta(hours=4)).isoformat()
    made = send(mona_key, "post", f"{url}/overrides", {"member": bo.email, "until": until})
    assert (made.status_code, read(made)["name"]) == (201, "Bo")
    assert get(ravi_key, url)["on_call"] | {"from": "", "until": ""} == {
        "member": str(bo.pk),
        "name": "Bo",
        "from": "",
        "until": "",
        "override": True,
        "instead_of": [],
    }
    key = get(ravi_key, url)["overrides"][0]["id"]
    assert send(mona_key, "delete", f"{url}/overrides/{key}").status_code == 204
    assert send(mona_key, "delete", f"{url}/overrides/{key}").status_code == 404
    assert get(ravi_key, url)["on_call"]["name"] == "Alice"
    with scope(acme.pk):
        actions = AuditEntry.objects.filter(action__startswith="override.").order_by("seq")
        assert [each.action for each in actions] == ["override.created", "override.withdrawn"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"zone": ""}, "zone"),
        ({"zone": "Europe/Atlantis"}, "zone"),
        ({"every": "month"}, "every"),
        ({"handover": "24:00"}, "handover"),
        ({"handover": "9:00"}, "handover"),
        ({"handover": 9}, "handover"),
        ({"first_day": "today"}, "first_day"),
        ({"first_day": "1900-01-01"}, "first_day"),
        ({"members": []}, "members"),
        ({"members": ["nobody@acme.example"]}, "members"),
        ({"members": "alice@acme.example"}, "members"),
    ],
)
def test_what_is_no_rotation_is_refused_by_its_field(
    acme: Tenant, alice: Member, ravi_key: Key, change: dict[str, Any], field: str
) -> None:
    response = send(ravi_key, "post", "/rotations", body_of(alice, **change))
    told = read(response)
    assert (response.status_code, told["code"]) == (422, "invalid_rotation")
    assert [each["field"] for each in told["errors"]] == [field]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"member": "nobody@acme.example"}, "member"),
        ({"member": "ravi@acme.example"}, "member"),
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"until": "2026-12-01T00:00:00"}, "until"),
        ({"until": "9999-12-31T23:59:59Z"}, "until"),
        ({"from": "soon"}, "from"),
    ],
)
def test_what_is_no_override_is_refused_by_its_field(
    nights: dict[str, Any], ravi_key: Key, bo: Member, change: dict[str, Any], field: str
) -> None:
    until = (clock.now() + timedelta(hours=4)).isoformat()
    sent = {"member": bo.email, "until": until, **change}
    response = send(ravi_key, "post", f"/rotations/{nights['id']}/overrides", sent)
    assert (response.status_code, [each["field"] for each in read(response)["errors"]]) == (422, [field])


def test_only_an_admin_writes_rotations(
    nights: dict[str, Any], alice: Member, alice_key: Key, mona_key: Key, stranger_key: Key
) -> None:
    url = f"/rotations/{nights['id']}"
    for key in (alice_key, mona_key):
        assert send(key, "post", "/rotations", body_of(alice, name="Mine")).status_code == 403
        assert send(key, "patch", url, {"name": "Mine"}).status_code == 403
        assert send(key, "delete", url).status_code == 403
    until = (clock.now() + timedelta(hours=4)).isoformat()
    step_in = {"member": alice.email, "until": until}
    assert send(alice_key, "post", f"{url}/overrides", step_in).status_code == 403
    assert get(alice_key, url)["name"] == "Nights"
    assert get(stranger_key, "/rotations")["items"] == []
    for verb, path, body in (("get", "", None), ("patch", "", {"name": "M"}), ("post", "/overrides", step_in)):
        answer = get(stranger_key, url) if verb == "get" else read(send(stranger_key, verb, url + path, body))
        assert answer["status"] == 404
