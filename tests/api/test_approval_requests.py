"""Approval requests over HTTP: list, read, answer; what is refused, and how it says so."""

from typing import Any

import pytest
from django.test import Client

from approvals.api import shapes
from approvals.models import ApprovalRequest, Review
from tenants import exact_json, ids
from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.people import Key
from tests.cast.requests import ARGUMENTS, REFUND, a_call, fresh, park

URL = "/api/v1/approval-requests"


def post(key: Key, path: str, body: Any, **headers: str) -> Any:
    text = body if isinstance(body, str) else exact_json.dumps(body)
    return Client().post(f"{URL}{path}", text, content_type="application/json", headers={**key.headers, **headers})


def get(key: Key, path: str = "") -> Any:
    return Client().get(f"{URL}{path}", headers=key.headers)


def read(response: Any) -> Any:
    return exact_json.loads(response.content)


def test_a_request_is_told_as_the_contract_says(parked: ApprovalRequest, alice_key: Key, alice: Member) -> None:
    told = read(get(alice_key, f"/{parked.pk}"))
    wanted = (
        "id status version tool summary arguments proposed_arguments rationale risk subject run step agent evidence"
        " precondition flags answers requirement approvals_given approvals_needed reviews asked escalation_level"
        " next_escalation_at deadline decided_at decision supersedes superseded_by round difference created_at"
    )
    assert set(wanted.split()) <= set(told)
    assert told["arguments"] == ARGUMENTS
    assert told["answers"] == ["approve", "edit", "reject", "respond"]
    assert (told["approvals_given"], told["approvals_needed"]) == (0, 1)
    assert str(alice.pk) in {each["member"] for each in told["asked"]}
    assert told["step"] == 1


def test_approving_answers_201_with_request_and_review(parked: ApprovalRequest, alice_key: Key, alice: Member) -> None:
    response = post(alice_key, f"/{parked.pk}/decisions", {"decision": "approve", "version": 1})
    told = read(response)
    assert response.status_code == 201
    assert told["request"]["status"] == "approved"
    assert (told["request"]["approvals_given"], told["request"]["approvals_needed"]) == (1, 1)
    assert told["review"]["member"] == str(alice.pk)
    assert told["review"]["counts"] is True


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"decision": None},
        {"decision": ""},
        {"decision": True},
        {"decision": "approved?"},
        {"decision": "approve"},
        {"decision": "approve", "version": "1"},
        {"decision": "edit", "version": 1, "arguments": ARGUMENTS, "tool": "wire"},
        [],
        "null",
    ],
)
def test_what_is_no_decision_is_422_and_decides_nothing(parked: ApprovalRequest, alice_key: Key, body: Any) -> None:
    response = post(alice_key, f"/{parked.pk}/decisions", body)
    assert response.status_code == 422
    assert response.headers["Content-Type"].startswith("application/problem+json")
    assert fresh(parked).status == "pending"


def test_the_actor_is_the_keys_whoever_is_named(
    parked: ApprovalRequest, alice_key: Key, alice: Member, bo: Member
) -> None:
    body = {"decision": "approve", "version": 1, "decided_by": str(bo.pk), "user_id": str(bo.pk)}
    assert post(alice_key, f"/{parked.pk}/decisions", body, **{"X-Actor": str(bo.pk)}).status_code == 422
    answer = {"decision": "approve", "version": 1}
    assert post(alice_key, f"/{parked.pk}/decisions", answer, **{"X-Actor": str(bo.pk)}).status_code == 201
    with scope(parked.tenant_id):
        assert Review.objects.get(request=parked).member_id == alice.pk


def test_the_loser_reads_who_won(parked: ApprovalRequest, alice_key: Key, bo: Member, key_of: Any) -> None:
    post(alice_key, f"/{parked.pk}/decisions", {"decision": "approve", "version": 1})
    response = post(key_of(bo), f"/{parked.pk}/decisions", {"decision": "reject", "version": 1, "comment": "No."})
    told = read(response)
    assert response.status_code == 409
    assert told["standing"]["status"] == "approved"
    assert told["standing"]["by"] == "Alice"
    assert told["standing"]["at"]


def test_a_foreign_id_answers_exactly_like_an_unknown_one(parked: ApprovalRequest, stranger_key: Key) -> None:
    answers = []
    for key in (parked.pk, ids.new()):
        responses = (
            get(stranger_key, f"/{key}"),
            get(stranger_key, f"/{key}/comments"),
            post(stranger_key, f"/{key}/decisions", {"decision": "approve", "version": 1}),
            post(stranger_key, f"/{key}/viewed", {}),
            post(stranger_key, f"/{key}/comments", {"text": "hello"}),
            post(stranger_key, f"/{key}/reassign", {"to": str(ids.new())}),
            post(stranger_key, f"/{key}/escalate", {}),
        )
        answers += [(response.status_code, response.content) for response in responses]
    assert answers[:7] == answers[7:]
    assert {status for status, _ in answers} == {404}
    assert read(get(stranger_key)) == {"items": [], "next": None}


def test_a_key_without_the_scope_reads_and_decides_nothing(parked: ApprovalRequest, alice: Member, key_of: Any) -> None:
    key = key_of(alice, "runs:read")
    assert get(key).status_code == 403
    assert post(key, f"/{parked.pk}/decisions", {"decision": "approve", "version": 1}).status_code == 403


def test_a_service_key_cannot_decide(parked: ApprovalRequest, service_key: Key) -> None:
    assert post(service_key, f"/{parked.pk}/decisions", {"decision": "approve", "version": 1}).status_code == 403


def test_a_manager_reads_and_does_not_decide(parked: ApprovalRequest, mona_key: Key) -> None:
    assert get(mona_key, f"/{parked.pk}").status_code == 200
    assert post(mona_key, f"/{parked.pk}/decisions", {"decision": "approve", "version": 1}).status_code == 403


def test_an_admin_reads_no_requests(parked: ApprovalRequest, ravi_key: Key) -> None:
    assert get(ravi_key, f"/{parked.pk}").status_code == 404
    assert read(get(ravi_key))["items"] == []


def test_an_edit_keeps_numbers_exactly(acme: Tenant, alice_key: Key) -> None:
    request = park(acme, a_call(arguments={**ARGUMENTS, "count": 9007199254740993}))
    body = {"decision": "edit", "version": 1, "arguments": {**ARGUMENTS, "count": 9007199254740993, "note": "ok"}}
    told = read(post(alice_key, f"/{request.pk}/decisions", body))
    assert told["request"]["arguments"]["count"] == 9007199254740993
    assert told["request"]["decision"] == "edit"


@pytest.mark.parametrize("value", ["2", True])
def test_an_edit_is_not_retyped(parked: ApprovalRequest, alice_key: Key, value: Any) -> None:
    body = {"decision": "edit", "version": 1, "arguments": {**ARGUMENTS, "count": value}}
    response = post(alice_key, f"/{parked.pk}/decisions", body)
    assert response.status_code == 422
    assert read(response)["errors"][0]["field"] == "count"


def test_an_edit_without_a_field_names_it_and_says_that_all_are_wanted(parked: ApprovalRequest, alice_key: Key) -> None:
    body = {"decision": "edit", "version": 1, "arguments": {"amount": ARGUMENTS["amount"]}}
    problem = read(post(alice_key, f"/{parked.pk}/decisions", body))
    wanted = {each["field"]: each["message"] for each in problem["errors"]}
    assert wanted["order_id"] == "order_id is missing. All fields of the call are wanted, those that stay too."


def test_an_answer_without_a_decision_is_told_that_it_is_missing(parked: ApprovalRequest, alice_key: Key) -> None:
    problem = read(post(alice_key, f"/{parked.pk}/decisions", {}))
    assert problem["errors"] == [
        {"field": "decision", "message": "This is missing. One of approve, edit, reject, respond is wanted."}
    ]


@pytest.mark.parametrize("name", ["tool", "name", "tool_name"])
def test_an_edit_names_no_other_tool(parked: ApprovalRequest, alice_key: Key, name: str) -> None:
    """Case 8: the tool is no argument, so no edit reaches the rules or the hands of another one."""
    body = {"decision": "edit", "version": 1, "arguments": {**ARGUMENTS, name: "wire"}}
    assert post(alice_key, f"/{parked.pk}/decisions", body).status_code == 422
    body["arguments"] = {**ARGUMENTS, "note": "wire"}
    told = read(post(alice_key, f"/{parked.pk}/decisions", body))["request"]
    assert (told["tool"], told["version"], told["arguments"]) == ("refund", 2, {**ARGUMENTS, "note": "wire"})


def test_bulk_gives_one_result_an_item(
    acme: Tenant, globex: Tenant, alice: Member, alice_key: Key, bo: Member, stranger: Member
) -> None:
    open_one, decided, own = park(acme), park(acme), park(acme, a_call(initiators=(alice.pk,)))
    foreign = park(globex)
    post(alice_key, f"/{decided.pk}/decisions", {"decision": "approve", "version": 1})
    keys = [open_one.pk, decided.pk, own.pk, foreign.pk, ids.new()]
    items = [{"id": str(key), "version": 1, "decision": "approve"} for key in keys]
    response = post(alice_key, "/bulk-decisions", {"items": items})
    results = read(response)["results"]
    assert response.status_code == 200
    assert [each["status"] for each in results] == [201, 409, 403, 404, 404]
    assert results[0]["request"]["status"] == "approved"
    assert results[3]["problem"] == results[4]["problem"]
    assert fresh(own).status == "pending"
    assert fresh(foreign).status == "pending"


def test_bulk_takes_neither_edits_nor_answers(parked: ApprovalRequest, alice_key: Key) -> None:
    items = [{"id": str(parked.pk), "version": 1, "decision": verb} for verb in ("edit", "respond", None)]
    results = read(post(alice_key, "/bulk-decisions", {"items": items}))["results"]
    assert [each["status"] for each in results] == [422, 422, 422]


def test_the_same_decision_under_one_key_is_given_once(parked: ApprovalRequest, alice_key: Key) -> None:
    body = {"decision": "approve", "version": 1}
    first = post(alice_key, f"/{parked.pk}/decisions", body, **{"Idempotency-Key": "k1"})
    again = post(
        alice_key, f"/{parked.pk}/decisions", '{"version":1, "decision":"approve"}', **{"Idempotency-Key": "k1"}
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content


def test_a_refused_decision_under_a_key_is_kept_in_the_audit(
    parked: ApprovalRequest, mona_key: Key, acme: Tenant
) -> None:
    body = {"decision": "approve", "version": 1}
    assert post(mona_key, f"/{parked.pk}/decisions", body, **{"Idempotency-Key": "k2"}).status_code == 403
    with scope(acme.pk):
        assert AuditEntry.objects.filter(target=f"request:{parked.pk}", refused=True).count() == 1


def test_lists_are_filtered(acme: Tenant, alice: Member, alice_key: Key, bo: Member) -> None:
    high, critical = park(acme), park(acme, a_call(risk="critical", initiators=(alice.pk,)))
    post(alice_key, f"/{high.pk}/decisions", {"decision": "approve", "version": 1})

    def found(query: str) -> set[str]:
        return {each["id"] for each in read(get(alice_key, f"?{query}"))["items"]}

    assert found("") == {str(high.pk), str(critical.pk)}
    assert found("status=approved") == {str(high.pk)}
    assert found("risk=critical&tool=refund&agent=refund-desk") == {str(critical.pk)}
    assert found("mine=true") == set()
    assert found("q=A-1042") == {str(high.pk), str(critical.pk)}
    assert found("q=nothing") == set()
    assert get(alice_key, "?status=unheard").status_code == 422


def test_a_page_of_200_costs_as_many_queries_as_one_of_2(
    acme: Tenant, alice: Member, alice_key: Key, django_assert_max_num_queries: Any
) -> None:
    for _number in range(2):
        park(acme)
    with django_assert_max_num_queries(40) as few:
        get(alice_key, "?limit=200")
    for _number in range(20):
        park(acme)
    with django_assert_max_num_queries(len(few)):
        assert len(read(get(alice_key, "?limit=200"))["items"]) == 22


def test_pages_follow_each_other(acme: Tenant, alice: Member, alice_key: Key) -> None:
    wanted = {str(park(acme).pk) for _number in range(5)}
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = read(get(alice_key, f"?limit=2&cursor={cursor}" if cursor else "?limit=2"))
        seen += [each["id"] for each in page["items"]]
        cursor = page["next"]
    assert len(seen) == 5
    assert set(seen) == wanted


@pytest.mark.parametrize("verb", ["get", "head"])
@pytest.mark.parametrize("path", ["decisions", "viewed", "reassign", "escalate"])
def test_get_changes_nothing(parked: ApprovalRequest, alice_key: Key, verb: str, path: str) -> None:
    response = getattr(Client(), verb)(f"{URL}/{parked.pk}/{path}", headers=alice_key.headers)
    assert response.status_code == 405
    assert fresh(parked).status == "pending"


@pytest.mark.parametrize("sent", [{"note": "•••"}, {}])
def test_an_edit_keeps_the_sensitive_value_that_its_editor_could_not_see(
    acme: Tenant, alice: Member, alice_key: Key, sent: dict[str, str]
) -> None:
    request = park(acme, a_call(definition={**REFUND, "sensitive": ["note"]}, arguments={**ARGUMENTS, "note": "4242"}))
    shown = {name: value for name, value in ARGUMENTS.items() if name != "note"}
    body = {"decision": "edit", "version": 1, "arguments": {**shown, "amount": "12.00", **sent}}
    assert post(alice_key, f"/{request.pk}/decisions", body).status_code == 201
    with scope(acme.pk):
        version = fresh(request).versions.get(number=2)
    assert exact_json.loads(version.arguments) == {**ARGUMENTS, "note": "4242", "amount": "12.00"}
    assert version.edited_fields == ["amount"]


def test_sensitive_values_are_masked(acme: Tenant, alice: Member, alice_key: Key) -> None:
    request = park(acme, a_call(definition={**REFUND, "sensitive": ["note"]}, arguments={**ARGUMENTS, "note": "4242"}))
    response = get(alice_key, f"/{request.pk}")
    assert b"4242" not in response.content


def test_the_document_says_what_an_answer_takes_and_gives() -> None:
    document = exact_json.loads(Client().get("/api/v1/openapi.json").content)
    answer = document["paths"]["/api/v1/approval-requests/{request_id}/decisions"]["post"]
    schemas = document["components"]["schemas"]
    assert document["info"]["description"].count(". ") == 2
    assert answer["responses"]["201"]["content"]["application/json"]["schema"]["$ref"].endswith("/DecidedOut")
    assert schemas["DecisionBody"]["properties"]["decision"]["enum"] == ["approve", "edit", "reject", "deny", "respond"]
    assert schemas["DecisionBody"]["required"] == ["decision", "version"]
    assert "all fields" in schemas["DecisionBody"]["properties"]["arguments"]["description"]
    assert "waiting_approval" in schemas["RunOut"]["properties"]["status"]["enum"]
    assert {"declined", "approved"} <= set(schemas["StepOut"]["properties"]["status"]["enum"])
    assert "step.settled" in schemas["EventOut"]["properties"]["name"]["enum"]
    assert schemas["DecisionBody"]["properties"]["version"]["type"] == "integer"
    assert "from" in schemas["AskedOut"]["properties"]
    assert list(schemas["RequestOut"]["properties"]) == shapes.REQUEST
