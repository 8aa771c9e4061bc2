"""Exports: whole, exact, masked, no cell a formula, and for an admin with a key that may read the audit."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from approvals.api import shapes
from approvals.models import ApprovalRequest
from runs.api.exporting import COLUMNS
from tenants import exact_json
from tenants.models import Event, Member, Tenant
from tenants.scope import frames, scope
from tests.api.conftest import ApiClient, read
from tests.cast.people import Key, actor, make_key
from tests.cast.plays import Play
from tests.cast.requests import REFUND, a_call
from tests.cast.runs import decide

Api = Callable[[Key | None], ApiClient]
Export = Callable[..., list[dict[str, Any]]]
HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=cmd|" /C calc"!A0\r\nnext line']


def text_of(response: Any) -> str:
    assert response.status_code == 200, response.content
    return b"".join(response.streaming_content).decode()


@pytest.fixture
def lines(api: Api, ravi_key: Key) -> Export:
    """The rows of an export as NDJSON, exact."""

    def ask(path: str, key: Key = ravi_key) -> list[dict[str, Any]]:
        text = text_of(api(key).get(f"/exports/{path}"))
        return [exact_json.loads(line) for line in text.splitlines()]

    return ask


@pytest.fixture
def cells(api: Api, ravi_key: Key) -> Export:
    """The rows of an export as CSV, as a spreadsheet reads them."""

    def ask(path: str) -> list[dict[str, Any]]:
        text = text_of(api(ravi_key).get(f"/exports/{path}{'&' if '?' in path else '?'}format=csv"))
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))

    return ask


def test_events_are_the_whole_story_of_each_run(lines: Export, parked_run: Play, play: Callable[..., Play]) -> None:
    later = play()
    rows = lines("events")
    with scope(parked_run.tenant.pk):
        kept = [each for each in Event.objects.order_by("subject", "seq") if each.subject.startswith("run:")]
        assert [(row["run"], row["seq"], row["name"]) for row in rows] == [
            (event.subject[4:], event.seq, event.name) for event in kept
        ]
    assert {row["run"] for row in rows} == {parked_run.id, later.id}
    assert all(list(row) == COLUMNS for row in rows)


def test_ten_thousand_five_hundred_events_are_as_many_rows(lines: Export, cells: Export, parked_run: Play) -> None:
    with scope(parked_run.tenant.pk), connection.cursor() as cursor:
        before = Event.objects.count()
        cursor.execute(
            "SELECT event_append(%s, %s, 'step.progress', '{}', 'on', '{}') FROM generate_series(1, %s)",
            [parked_run.tenant.pk, parked_run.subject, 10_500 - before],
        )
    assert [row["seq"] for row in lines("events")] == list(range(1, 10_501))
    assert len(cells("events")) == 10_500


def test_events_are_narrowed_like_the_list_of_runs_and_by_name(
    lines: Export, parked_run: Play, play: Callable[..., Play]
) -> None:
    queued = play(labels={"case": "7"})
    assert {row["run"] for row in lines("events?status=queued")} == {queued.id}
    assert {row["run"] for row in lines("events?label=case=7")} == {queued.id}
    assert {row["run"] for row in lines("events?waiting_on=approval")} == {parked_run.id}
    assert lines("events?agent=nobody") == []
    names = [row["name"] for row in lines("events?name=approval.requested,run.waiting")]
    assert sorted(names) == ["approval.requested", "run.waiting"]


@pytest.mark.parametrize("query", ["status=gone", "waiting_on=nobody", "since=yesterday", "format=xml"])
def test_a_filter_that_means_nothing_is_refused_before_a_line_is_sent(api: Api, ravi_key: Key, query: str) -> None:
    assert api(ravi_key).get(f"/exports/events?{query}").status_code == 422


def test_an_export_holds_no_scope_between_two_rows_and_goes_on_where_rows_are_added(
    api: Api, ravi_key: Key, play: Callable[..., Play]
) -> None:
    made = [play().id for _ in range(260)]
    parts = iter(api(ravi_key).get("/exports/events").streaming_content)  # type: ignore[attr-defined]
    first = next(parts)
    assert frames() == []
    made.append(play().id)
    rows = [exact_json.loads(line) for line in (first + b"".join(parts)).decode().splitlines()]
    assert [row["run"] for row in rows if row["name"] == "run.queued"] == made


def test_requests_are_exported_as_the_list_tells_them(
    lines: Export, api: Api, alice: Member, alice_key: Key, parking: Callable[..., ApprovalRequest]
) -> None:
    made = [parking(), parking(), parking()]
    decide(alice, made[1], "reject", comment="=too much")
    rows = lines("requests")
    listed = read(api(alice_key).get("/approval-requests"))["items"]
    assert rows == listed[::-1]
    assert all(list(row) == shapes.REQUEST for row in rows)


def test_a_refusal_is_told_apart_from_silence(
    lines: Export, alice: Member, parking: Callable[..., ApprovalRequest]
) -> None:
    rejected, _open = parking(), parking()
    decide(alice, rejected, "reject", comment="no")
    (row,) = lines("requests?status=rejected")
    assert (row["id"], row["decided_by"]["name"]) == (str(rejected.pk), "Alice")
    assert lines("requests?status=expired") == []
    assert [row["status"] for row in lines("requests?tool=refund")] == ["rejected", "pending"]


def test_a_status_that_does_not_exist_is_refused_before_a_line_is_sent(api: Api, ravi_key: Key) -> None:
    assert api(ravi_key).get("/exports/requests?status=gone").status_code == 422


def test_a_sensitive_argument_is_masked_in_every_form(
    lines: Export, cells: Export, parking: Callable[..., ApprovalRequest]
) -> None:
    values = {"order_id": "A-1", "amount": "1.00", "currency": "EUR", "card": {"number": "4111-1111"}}
    parking(a_call(arguments=values, definition={**REFUND, "sensitive": ["card"]}))
    (row,) = lines("requests")
    assert row["arguments"] == row["proposed_arguments"] == {**values, "card": "•••"}
    assert "4111" not in str(lines("requests") + cells("requests") + lines("events") + lines("audit"))


def test_numbers_come_out_as_they_went_in(api: Api, ravi_key: Key, parking: Callable[..., ApprovalRequest]) -> None:
    parking(a_call(arguments='{"id":9007199254740993,"price":1.10,"less":-5}'))
    for form in ("ndjson", "csv"):
        text = text_of(api(ravi_key).get(f"/exports/requests?format={form}")).replace('""', '"')
        assert '{"id":9007199254740993,"price":1.10,"less":-5}' in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_cell_is_a_formula_and_numbers_stay_numbers(
    cells: Export, alice: Member, parking: Callable[..., ApprovalRequest], hostile: str
) -> None:
    values = {"order_id": hostile, "amount": "-5", "currency": "EUR", "count": -5}
    request = parking(a_call(arguments=values, rationale=hostile))
    decide(alice, request, "reject", comment=hostile)
    (row,) = cells("requests")
    assert row["rationale"] == f"'{hostile}"
    assert row["comment"] == f"'{hostile}"
    assert not [cell for cell in row.values() if cell.startswith(("=", "+", "@", "\t", "\r", "\n"))]
    assert (row["version"], row["round"]) == ("1", "0")
    assert exact_json.loads(row["arguments"]) == values


def test_names_of_runs_and_people_are_no_formulas_either(
    cells: Export, acme: Tenant, play: Callable[..., Play], alice: Member
) -> None:
    run = play(by=alice, title="=1+1").begin()
    run.wants(text="-5")
    rows = cells("events")
    with scope(acme.pk):
        assert len(rows) == Event.objects.filter(subject=run.subject).count()
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("path", ["/exports/events", "/exports/requests"])
def test_only_an_admin_with_a_key_for_the_audit_exports(
    api: Api, path: str, parked_run: Play, ravi: Member, ravi_key: Key, mona_key: Key, alice_key: Key, stranger_key: Key
) -> None:
    assert text_of(api(ravi_key).get(path))
    assert text_of(api(stranger_key).get(path)) == ""
    for key in (mona_key, alice_key, make_key(ravi, "runs:read", "approvals:read", "settings:read")):
        assert api(key).get(path).status_code == 403
    assert actor(ravi).member == ravi.pk
    assert api(None).get(path).status_code == 401
