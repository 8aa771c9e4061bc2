"""What surrounds every route: errors of one shape, exact JSON, scopes of keys, the audit of refusals."""

from collections.abc import Callable
from typing import Any

import pytest

from tenants import keys
from tenants.exact_json import loads
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.api.conftest import ApiClient, read
from tests.cast.people import Key, actor

Api = Callable[[Key | None], ApiClient]


def refusals(tenant: Tenant) -> list[AuditEntry]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.filter(action="request.refused").order_by("seq"))


@pytest.mark.parametrize("text", ["", "vm_x_y_z", "nonsense", "vm_" + "A" * 22 + "_" + "A" * 22 + "_00"])
def test_without_a_living_key_the_answer_is_401(db: None, api: Api, text: str) -> None:
    response = api(Key(text)).get("/members")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"


def test_an_unknown_path_and_a_wrong_method_are_problems(alice_key: Key, api: Api) -> None:
    assert api(alice_key).get("/nowhere").status_code == 404
    assert api(alice_key).send("PUT", "/members").status_code == 405
    assert api(None).get("/nowhere").status_code == 404


def test_a_revoked_key_is_no_key(ravi: Member, ravi_key: Key, api: Api) -> None:
    listed = read(api(ravi_key).get("/keys"))["items"]
    assert api(ravi_key).delete(f"/keys/{listed[0]['id']}").status_code == 204
    assert api(ravi_key).get("/keys").status_code == 401


def test_a_key_says_when_it_last_acted_and_reading_is_no_act(ravi_key: Key, mona_key: Key, api: Api) -> None:
    def told() -> dict[str, Any]:
        return {item["owner"]: item["last_act"] for item in read(api(ravi_key).get("/keys"))["items"]}

    assert api(mona_key).get("/approval-requests").status_code == 200
    assert set(told().values()) == {None}
    assert api(ravi_key).post("/groups", {"name": "Finance"}).status_code == 201
    assert api(mona_key).post("/groups", {"name": "Mine"}).status_code == 403
    assert len(told()) == 2
    assert None not in told().values()


def test_the_key_of_a_member_who_left_is_no_key(ravi: Member, ravi_key: Key, alice: Member, api: Api) -> None:
    with scope(ravi.tenant_id):
        _key, text = keys.create(alice, actor=actor(alice), scopes=["settings:read"])
    assert api(Key(text)).get("/members").status_code == 200
    assert api(ravi_key).patch(f"/members/{alice.pk}", {"active": False}).status_code == 200
    assert api(Key(text)).get("/members").status_code == 401


def test_a_key_can_do_what_its_scopes_and_its_owners_roles_both_allow(
    alice: Member, ravi: Member, key_of: Callable[..., Key], api: Api
) -> None:
    group = {"name": "payments"}
    assert read(api(key_of(alice)).post("/groups", group))["code"] == "no_role"
    assert read(api(key_of(ravi, "settings:read")).post("/groups", group))["code"] == "no_scope"
    assert api(key_of(ravi, "settings:write")).post("/groups", group).status_code == 201


def test_a_service_key_never_gets_the_scope_to_decide(ravi_key: Key, api: Api) -> None:
    wish = {"name": "bot", "scopes": ["approvals:decide"], "service": True}
    response = api(ravi_key).post("/keys", wish)
    assert (response.status_code, read(response)["code"]) == (422, "service_cannot_decide")


def test_a_key_makes_no_key_that_may_more(ravi: Member, key_of: Callable[..., Key], api: Api) -> None:
    response = api(key_of(ravi, "settings:write")).post("/keys", {"name": "x", "scopes": ["audit:read"]})
    assert (response.status_code, read(response)["code"]) == (403, "wider_scope")


@pytest.mark.parametrize(
    "body",
    [
        '{"name": NaN}',
        '{"name": Infinity}',
        '{"name": "a", "name": "b"}',
        '{"name": "a\\u0000b"}',
        '{"name": "\\ud800"}',
        '{"name": 1e999999999}',
        "[" * 20_000,
        '{"name":' * 20_000,
        b'{"name": "\xff"}',
        "not json",
    ],
)
def test_a_body_that_cannot_be_kept_is_a_clear_400(ravi_key: Key, api: Api, body: str | bytes) -> None:
    response = api(ravi_key).post("/groups", body)
    assert (response.status_code, read(response)["code"]) == (400, "bad_json")


def test_a_nul_in_the_address_is_a_400(ravi_key: Key, api: Api) -> None:
    assert api(ravi_key).get("/members?cursor=%00").status_code == 400
    assert api(ravi_key).get("/members/%00").status_code == 400


def test_a_body_that_is_too_large_is_a_413(ravi_key: Key, api: Api) -> None:
    assert api(ravi_key).post("/groups", {"name": "x" * 3_000_000}).status_code == 413


def test_fields_that_are_wrong_are_named(ravi_key: Key, api: Api) -> None:
    response = api(ravi_key).post("/groups", {"name": "", "membres": []})
    assert response.status_code == 422
    assert {error["field"]: error["message"] for error in read(response)["errors"]} == {
        "name": "This may not be empty.",
        "membres": "There is no such field here. Allowed are: name, members.",
    }
    assert read(response)["code"] == "invalid"


def test_fields_that_are_wrong_are_named_in_the_language_that_was_asked_for(ravi_key: Key, api: Api) -> None:
    response = api(ravi_key).send("POST", "/runs", {"agent": "refund-desk"}, **{"Accept-Language": "zh-hans"})
    assert read(response)["errors"] == [{"field": "input", "message": "此项必填。"}]


def test_exact_numbers_pass_in_and_out(ravi_key: Key, api: Api) -> None:
    text = '{"notifications":{"limit":9007199254740993,"share":0.10000000000000000001}}'
    assert api(ravi_key).send("PATCH", "/settings", text).status_code == 200
    answer = api(ravi_key).get("/settings").content.decode()
    assert '"limit":9007199254740993' in answer
    assert '"share":0.10000000000000000001' in answer


def test_a_refused_change_is_in_the_audit_and_a_refused_look_is_not(
    acme: Tenant, alice: Member, alice_key: Key, api: Api
) -> None:
    api(alice_key).post("/groups", {"name": "payments"})
    api(alice_key).get("/exports/audit")
    found = refusals(acme)
    assert [entry.refused for entry in found] == [True]
    assert found[0].actor_kind == "key"


def test_who_acted_is_never_read_from_the_request(
    acme: Tenant, ravi: Member, ravi_key: Key, bo: Member, api: Api
) -> None:
    response = api(ravi_key).post("/groups", {"name": "a"}, **{"X-Actor": str(bo.pk), "X-Tenant": "globex"})
    assert response.status_code == 201
    assert api(ravi_key).post("/groups", {"name": "b", "user_id": str(bo.pk)}).status_code == 422
    with scope(acme.pk):
        entry = AuditEntry.objects.get(action="group.created")
    assert (entry.actor_kind, str(bo.pk) in entry.actor_id) == ("key", False)


def test_lists_go_on_after_their_cursor(ravi_key: Key, api: Api) -> None:
    for number in range(5):
        api(ravi_key).post("/groups", {"name": f"group {number}"})
    names: list[str] = []
    cursor = ""
    while cursor is not None:
        answer = read(api(ravi_key).get(f"/groups?limit=2&cursor={cursor}"))
        names += [item["name"] for item in answer["items"]]
        cursor = answer["next"]
    assert names == [f"group {number}" for number in range(5)]


@pytest.mark.parametrize("cursor", ["xxx", "W10", "WyJub3QgYW4gaWQiXQ", "%F0%9F%98%80"])
def test_a_cursor_that_is_none_is_a_400(ravi_key: Key, api: Api, cursor: str) -> None:
    response = api(ravi_key).get(f"/groups?cursor={cursor}")
    assert (response.status_code, read(response)["code"]) == (400, "bad_cursor")


def test_the_document_says_how_errors_look(db: None, api: Api) -> None:
    document = read(api(None).get("/openapi.json"))
    operation = document["paths"]["/api/v1/groups"]["post"]
    for status in ("400", "401", "403", "404", "409", "422"):
        assert list(operation["responses"][status]["content"]) == ["application/problem+json"]
    assert {"name": "Idempotency-Key", "in": "header"}.items() <= operation["parameters"][-1].items()


def test_the_audit_is_exported_whole_and_each_line_is_strict_json(ravi_key: Key, api: Api) -> None:
    api(ravi_key).post("/groups", {"name": "=cmd|' /C calc'!A0"})
    response = api(ravi_key).get("/exports/audit")
    lines = b"".join(response.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert [loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    csv = api(ravi_key).get("/exports/audit?format=csv")
    assert len(b"".join(csv.streaming_content).decode().splitlines()) == len(lines) + 1  # type: ignore[attr-defined]
