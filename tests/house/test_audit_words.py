"""Everything that the audit may hold has its words: each verb, each refused call, each reason."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.http import HttpRequest
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver

from approvals.pages import audit_tries, audit_words
from approvals.pages.audit_reasons import NO_CODE, REASONS
from approvals.views.audit import KINDS
from config.api import api
from tenants import refused
from tenants.audit_names import ACTIONS

ROOT = Path(__file__).resolve().parents[2]
ANY = {"uuid": "01900000-0000-7000-8000-000000000000", "int": 1, "string": "x", "slug": "acme"}


def sources() -> Iterator[ast.Module]:
    for folder in ("approvals", "config", "runs", "tenants"):
        for path in (ROOT / folder).rglob("*.py"):
            if "migrations" not in path.parts:
                yield ast.parse(path.read_text())


def pages(patterns: list[URLPattern | URLResolver] | None = None, before: str = "") -> Iterator[tuple[URLPattern, str]]:
    for each in patterns if patterns is not None else get_resolver().url_patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from pages(each.url_patterns, route)
        elif route.startswith("t/<slug:slug>/"):
            yield each, route


def takes_forms(page: URLPattern) -> bool:
    """Whether the page lets a POST in; past its gate it fails, for want of all that stands around it."""
    converters: Any = page.pattern.converters
    values = {name: ANY[type(each).__name__.removesuffix("Converter").lower()] for name, each in converters.items()}
    request: HttpRequest = RequestFactory().post("/")
    try:
        return bool(page.callback(request, **{"slug": "acme", **values}).status_code != 405)
    except Exception:
        return True


def codes() -> set[str]:
    """Every code that a refusal is made with."""
    found: set[str] = set()
    for node in (node for module in sources() for node in ast.walk(module)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "Refusal" and node.args and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
            if name == "Verdict" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                found.add(f"not_yours_{node.args[1].value}")
            if name in ("Refusal", "forbidden", "not_found", "invalid", "field", "fields"):
                said = [each.value for each in node.keywords if each.arg == "code"]
                found |= {str(each.value) for each in said if isinstance(each, ast.Constant)}
        if isinstance(node, ast.FunctionDef):
            said = [
                value
                for at, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if at.arg == "code" and value
            ]
            found |= {str(each.value) for each in said if isinstance(each, ast.Constant)}
    return found - {"", "not_yours_"}


def test_every_verb_of_the_audit_has_its_words_and_its_place_in_the_filter() -> None:
    assert set(audit_words.DONE) == set(ACTIONS)
    told = tuple(beginning for _words, actions in KINDS.values() for beginning in actions)
    assert [action for action in ACTIONS if not action.startswith(told)] == ["request.refused"]


def test_no_entry_is_written_whose_verb_is_not_listed() -> None:
    written = {
        str(node.args[0].value)
        for module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
        if ast.unparse(node.func) == "audit.record"
    }
    assert len(written) > 20
    assert written <= set(ACTIONS)


def test_every_page_that_takes_a_form_says_what_was_wanted() -> None:
    named = {page.name: page for page, _route in pages()}
    taking = {str(name) for name, page in named.items() if takes_forms(page)}
    assert taking == set(audit_tries.PAGES)


def test_every_call_of_the_api_says_what_was_wanted() -> None:
    document = api.get_openapi_schema()["paths"]
    calls = {
        f"{method.upper()} {audit_tries.plain(path.removeprefix('/' + audit_tries.API))}"
        for path, methods in document.items()
        for method in methods
        if method != "get"
    }
    assert calls == set(audit_tries.CALLS)


def test_what_was_wanted_has_its_words() -> None:
    wanted = {*audit_tries.PAGES.values(), *audit_tries.CALLS.values()}
    assert wanted <= set(audit_words.WANTED)


def test_every_reason_has_its_words() -> None:
    found = codes() | {"cancelled", "expired", "superseded", "already_decided"}
    assert len(found) > 50
    assert found - set(REASONS) == set()
    assert set(refused.RECORDED) <= set(NO_CODE)
