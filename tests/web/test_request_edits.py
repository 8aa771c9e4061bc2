"""The form of an edit: what was not touched stays, what does not fit comes back with the form that is wanted."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from approvals.models import ApprovalRequest, Review
from tenants import exact_json
from tenants.models import AuditEntry, Event, Member, Tenant
from tenants.scope import scope
from tests.cast.request_pages import LONG, answer, browser, text, url
from tests.cast.requests import ARGUMENTS, DECIMAL, REFUND, a_call, fresh, group, park, rule


def test_an_edit_by_form_keeps_what_was_not_touched(acme: Tenant, alice: Member) -> None:
    request = park(acme, a_call(arguments={**ARGUMENTS, "count": 9007199254740993}))
    client = browser(alice)
    assert "9007199254740993" in text(client.get(url(request, "edit/")))
    fields = {f"arg.{name}": str(value) for name, value in {**ARGUMENTS, "count": 9007199254740993}.items()}
    response = answer(client, request, "edit", **{**fields, "arg.note": "checked"})
    assert response.status_code == 302
    with scope(acme.pk):
        version = fresh(request).versions.get(number=2)
    assert '"count":9007199254740993' in version.arguments.replace(" ", "")
    assert version.edited_fields == ["note"]


def test_the_edited_fields_are_named_in_the_order_of_the_page(parked: ApprovalRequest, alice: Member) -> None:
    client = browser(alice)
    fields = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()}
    changed = {**fields, "arg.note": "checked", "arg.amount": "1100.00", "arg.currency": "SEK"}
    assert answer(client, parked, "edit", **changed).status_code == 302
    assert "A person edited: amount, currency, note." in text(client.get(url(parked)))


def test_an_edit_that_does_not_fit_comes_back_with_its_field(parked: ApprovalRequest, alice: Member) -> None:
    fields = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()}
    response = answer(browser(alice), parked, "edit", **{**fields, "arg.amount": "1,250"})
    assert response.status_code == 422
    assert "1 field needs a change" in text(response)
    assert "1,250" in text(response)
    assert fresh(parked).version == 1


LOOSE: dict[str, Any] = {
    **REFUND,
    "summary": "Set it",
    "parameters": {
        "type": "object",
        "properties": {"any": {"default": None}, "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "map": {}},
        "additionalProperties": False,
    },
}


LINE = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
FORMS: dict[str, Any] = {
    **REFUND,
    "summary": "Refund {amount}",
    "parameters": {
        "type": "object",
        "$defs": {"Line": LINE},
        "properties": {
            "amount": DECIMAL,
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "maybe": {"anyOf": [DECIMAL, {"type": "null"}]},
            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "name": {"type": "string", "minLength": 1, "maxLength": 5},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        },
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize(
    ("field", "before", "typed", "after"),
    [
        ("any", "12", "13", "13"),
        ("any", "yes", "true", "true"),
        ("maybe", "x", "null", "null"),
        ("any", 12, "13", 13),
        ("map", {"a": 1}, '{"a": 2}', {"a": 2}),
    ],
)
def test_what_is_typed_keeps_the_kind_of_what_stood(
    acme: Tenant, alice: Member, field: str, before: Any, typed: str, after: Any
) -> None:
    values = {"any": 1, "maybe": "x", "map": {}, field: before}
    request = park(acme, a_call(definition=LOOSE, arguments=values))
    fields: dict[str, Any] = {f"arg.{field}": typed}
    assert answer(browser(alice), request, "edit", **fields).status_code == 302
    with scope(acme.pk):
        assert exact_json.loads(fresh(request).versions.get(number=2).arguments) == {**values, field: after}


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("amount", "1,250", "A decimal written as text is wanted, such as 12.50: digits and a point, nothing else."),
        ("count", "many", "A whole number from 1 to 9 is wanted."),
        ("count", "0", "A whole number from 1 to 9 is wanted."),
        (
            "maybe",
            "12.5",
            "such as 12.50: digits and a point, nothing else. Or null, for none. A text stands in double",
        ),
        ("currency", "euro", "A text of this form is wanted: ^[A-Z]{3}$"),
        ("name", "", "A text of 1 to 5 characters is wanted."),
        ("lines", "[{}]", "lines.0.sku: This is missing."),
        ("lines", "12", "A list is wanted, as JSON, such as [1, 2]."),
    ],
)
def test_an_edit_that_does_not_fit_names_the_form_that_is_wanted(
    acme: Tenant, alice: Member, field: str, typed: str, said: str
) -> None:
    values = {"amount": "1.00", "count": 1, "maybe": None, "currency": "EUR", "name": "a", "lines": [{"sku": "a"}]}
    request = park(acme, a_call(definition=FORMS, arguments=values))
    fields: dict[str, Any] = {f"arg.{field}": typed}
    response = answer(browser(alice), request, "edit", **fields)
    assert response.status_code == 422
    shown = unescape(text(response))
    assert f'id="arg-{field}-e">' in shown
    assert shown.count(said) == 2
    assert typed in shown
    assert fresh(request).version == 1


def test_the_form_that_is_wanted_is_named_in_chinese_too(acme: Tenant, parked: ApprovalRequest, alice: Member) -> None:
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    fields: dict[str, Any] = {"arg.amount": "1,250"}
    response = answer(browser(alice), parked, "edit", **fields)
    assert "须为写成文本的小数，例如 12.50：只有数字和小数点。" in text(response)


@pytest.mark.parametrize(("field", "before"), [("map", {"a": 1}), ("any", 12), ("maybe", None)])
def test_broken_json_does_not_become_a_text(acme: Tenant, alice: Member, field: str, before: Any) -> None:
    request = park(acme, a_call(definition=LOOSE, arguments={"any": 1, "maybe": "x", "map": {}, field: before}))
    fields: dict[str, Any] = {f"arg.{field}": '{"a": 2'}
    response = answer(browser(alice), request, "edit", **fields)
    assert response.status_code == 422
    assert "This cannot be read as JSON." in text(response)
    assert fresh(request).version == 1


def compare(client: Client, request: ApprovalRequest, version: int = 1, *, part: bool = False, **fields: str) -> str:
    """What the edit page says of these fields before they are sent."""
    sent = {"decision": "edit", "version": str(version), **fields}
    response = client.post(url(request, "edit/"), sent, headers={"HX-Request": "true"} if part else {})
    assert response.status_code == 200
    return unescape(
        re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text(response).split('id="changes"')[1].split("</section>")[0]))
    )


FIELDS = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()}


def test_what_changes_is_shown_before_it_is_sent_and_nothing_is_decided_by_it(
    acme: Tenant, parked: ApprovalRequest, alice: Member
) -> None:
    client = browser(alice)
    with scope(acme.pk):
        before = (Event.objects.count(), AuditEntry.objects.count(), Review.objects.count())
    assert "What you change stands here beside version 1" in text(client.get(url(parked, "edit/")))
    shown = compare(client, parked, **{**FIELDS, "arg.amount": "1200.00"})
    assert "amount 1240.00 1240.00 changed to 1200.00" in shown
    assert "Unchanged: order_id, currency, count, note." in shown
    assert "The act would then be: Refund 1200.00 EUR for order A-1042" in shown
    assert "1200.00" in text(client.post(url(parked, "edit/"), {"version": "1", **FIELDS, "arg.amount": "1200.00"}))
    assert "Nothing differs from version 1." in compare(client, parked, **FIELDS)
    with scope(acme.pk):
        assert (Event.objects.count(), AuditEntry.objects.count(), Review.objects.count()) == before
    assert (fresh(parked).version, fresh(parked).status) == (1, "pending")


def test_the_page_that_looks_by_itself_after_it_was_sent_is_refused_nothing(
    acme: Tenant, parked: ApprovalRequest, alice: Member
) -> None:
    client = browser(alice)
    assert answer(client, parked, "edit", **{**FIELDS, "arg.amount": "1100.00"}).status_code == 302
    with scope(acme.pk):
        before = AuditEntry.objects.count()
    late = {"decision": "edit", "version": "1", **FIELDS}
    assert client.post(url(parked, "edit/"), late, headers={"HX-Request": "true"}).status_code == 204
    with scope(acme.pk):
        assert AuditEntry.objects.count() == before
    assert client.post(url(parked, "edit/"), late).status_code == 409
    with scope(acme.pk):
        assert AuditEntry.objects.latest("seq").refused


def test_what_does_not_fit_is_said_before_it_is_sent(parked: ApprovalRequest, alice: Member) -> None:
    shown = compare(browser(alice), parked, part=True, **{**FIELDS, "arg.amount": "1,200"})
    assert "changed to 1,200 not valid: A decimal written as text is wanted" in shown
    assert "The act would then be" not in shown


def test_the_groups_that_the_rules_would_ask_are_named_before_it_is_sent(
    acme: Tenant, parked: ApprovalRequest, alice: Member, ravi: Member
) -> None:
    leads = group(acme, "Leads", ravi)
    rule(acme, ravi, "Large", when="args.amount > 5000.0", approvals=2, of=[{"group": leads.name}])
    shown = compare(browser(alice), parked, **{**FIELDS, "arg.amount": "6000.00"})
    assert "2 approvals are needed." in shown
    assert "Large : args.amount > 5000.0 asks 2 of Leads." in shown


def test_what_the_rules_would_demand_or_refuse_is_said_before_it_is_sent(
    acme: Tenant, parked: ApprovalRequest, alice: Member, ravi: Member
) -> None:
    rule(acme, ravi, "Sweden", when='args.currency == "SEK"', approvals=3)
    rule(acme, ravi, "Never", when="args.amount > 5000.0", outcome="deny")
    client = browser(alice)
    shown = compare(client, parked, **{**FIELDS, "arg.currency": "SEK"})
    assert "The rules demand more of it than now: 3 approvals are needed." in shown
    assert 'Sweden : args.currency == "SEK" asks 3 reviewers.' in shown
    assert "The rules demand more" not in compare(client, parked, **{**FIELDS, "arg.amount": "1200.00"})
    shown = compare(client, parked, **{**FIELDS, "arg.amount": "6000.00"})
    assert "The rules refuse this call with these values." in shown


def test_what_may_deceive_in_a_value_is_marked_where_versions_are_compared(
    acme: Tenant, parked: ApprovalRequest, alice: Member
) -> None:
    page = compare(browser(alice), parked, **{**FIELDS, "arg.note": "p\u0430ypal"})
    assert page.count("Look closely at: p\u0430ypal.") == 1
    hidden = park(acme, a_call(arguments={**ARGUMENTS, "note": "pay\u202enow"}))
    page = compare(browser(alice), hidden, **{**FIELDS, "arg.note": "Pay now."})
    assert page.count("1 hidden character") == 2


def test_compared_is_with_the_version_on_the_screen(acme: Tenant, alice: Member, bo: Member) -> None:
    rule(acme, bo, approvals=2)
    parked = park(acme)
    assert answer(browser(bo), parked, "edit", **{**FIELDS, "arg.amount": "1100.00"}).status_code == 302
    shown = compare(browser(alice), parked, **{**FIELDS, "arg.note": "seen"})
    assert "Version 2 stands by now. You edit version 1; that is not taken any more." in shown
    assert "note changed to seen" in shown
    assert "1100.00" not in shown
    assert "amount 1240.00 1100.00 changed to 1240.00" in compare(browser(alice), parked, version=2, **FIELDS)


def test_lines_that_a_browser_ends_its_own_way_are_no_change(acme: Tenant, alice: Member) -> None:
    request = park(acme, a_call(arguments={**ARGUMENTS, "note": "one\ntwo"}))
    assert "Nothing differs from version 1." in compare(browser(alice), request, **{**FIELDS, "arg.note": "one\r\ntwo"})


def test_who_may_not_edit_is_not_shown_what_an_edit_would_do(parked: ApprovalRequest, mona: Member) -> None:
    response = browser(mona).post(url(parked, "edit/"), {"version": "1", **FIELDS})
    assert response.status_code == 409
    assert 'id="changes"' not in text(response)


def test_a_note_too_long_for_an_edit_is_said_at_the_note(parked: ApprovalRequest, alice: Member) -> None:
    fields = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()}
    response = answer(browser(alice), parked, "edit", **{**fields, "arg.amount": "1200.00", "note": LONG})
    page = text(response)
    assert response.status_code == 422
    assert '<a href="#why">Why: This is too long: at most 20000 characters.' in page
    assert 'id="why-e">This is too long' in page
    assert LONG in page


def test_of_a_closed_request_nothing_is_offered_to_edit(parked: ApprovalRequest, alice: Member, bo: Member) -> None:
    client = browser(alice)
    assert 'aria-keyshortcuts="e"' in text(client.get(url(parked)))
    assert client.get(url(parked, "edit/")).status_code == 200
    answer(browser(bo), parked, "approve")
    live = text(client.get(url(parked), {"part": "status", "has_form": "1", "version": "1"}))
    assert '<span id="edit-link" hx-swap-oob="true"></span>' in live
    assert "What became of it" in live
    late = client.get(url(parked, "edit/"))
    assert late.status_code == 409
    assert "there is nothing left to edit" in text(late)
    assert "Bo approved this" in text(late)
    assert f'href="{url(parked)}"' in text(late)
    assert "arg.amount" not in text(late)


def test_the_values_of_an_edit_that_came_too_late_are_kept_to_be_copied(
    parked: ApprovalRequest, alice: Member, bo: Member
) -> None:
    answer(browser(bo), parked, "reject", reason="No photo.")
    fields = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()} | {"arg.amount": "1190.00"}
    page = text(answer(browser(alice), parked, "edit", note="Without the jug.", **fields))
    assert "\namount: 1190.00\n\nWithout the jug.</textarea>" in page


def test_the_values_of_an_edit_of_an_older_version_are_kept_beside_the_new_question(
    acme: Tenant, alice: Member, bo: Member
) -> None:
    request = park(acme, a_call(risk="critical"))
    answer(browser(bo), request, "edit", **{"arg.note": "As agreed"})
    fields = {f"arg.{name}": str(value) for name, value in ARGUMENTS.items()} | {"arg.amount": "1190.00"}
    response = answer(browser(alice), request, "edit", note="Without the jug.", **fields)
    assert response.status_code == 409
    assert "Bo made version 2" in text(response)
    assert "\namount: 1190.00\n\nWithout the jug.</textarea>" in text(response)
