"""Iris Holm's support form: lists the customers' cases and starts a run for one, over the product's own HTTP API.

The keys it starts runs with are left by `load.py` in a file that only this user can read.
Run it alone with `python -m examples.refund_desk.form`.
"""

from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, quote

import httpx

from examples.refund_desk import cases, pages, place, web

SECONDS = 10
AGENT = "refund-desk"


class Refused(Exception):
    """The product did not start the run; the text says why."""


def start(tenant: str, *, case: cases.Case) -> str:
    """Starts a run of the refund desk for this case and returns its id; raises Refused, httpx.HTTPError or NotUp."""
    desk = place.read("form-keys")
    keys = desk["keys"]
    assert isinstance(keys, dict)
    answer = httpx.post(
        f"{desk['api']}/runs",
        headers={"Authorization": f"Bearer {keys[tenant]}"},
        json={"agent": AGENT, "input": {"case": case.id}, "title": case.title, "labels": {"case": case.id}},
        timeout=SECONDS,
        trust_env=False,
    )
    if answer.status_code != HTTPStatus.CREATED:
        raise Refused(f"{answer.status_code}: {answer.text[:1000]}")
    return str(answer.json()["id"])


def respond(request: web.Request) -> web.Answer:
    match request.method, request.path:
        case "GET", "/":
            return list_page(request.query)
        case "GET", "/style.css":
            return pages.style()
        case "POST", "/start":
            return start_from(dict(parse_qsl(request.body.decode("utf-8", "replace"))))
    return web.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")


def start_from(fields: Mapping[str, str]) -> web.Answer:
    """Starts the run and leads back to the list, which then links to it."""
    case, tenant = cases.find(fields.get("case", "")), fields.get("tenant", "")
    if case is None or tenant not in tenants():
        return web.problem(HTTPStatus.BAD_REQUEST, "There is no such case or no such organisation.")
    try:
        run = start(tenant, case=case)
    except (Refused, httpx.HTTPError, place.NotUp) as error:
        return web.problem(HTTPStatus.BAD_GATEWAY, f"The run was not started. {error}")
    where = f"/?case={quote(case.id)}&tenant={quote(tenant)}&run={quote(run)}"
    return web.Answer("", HTTPStatus.SEE_OTHER, headers={"Location": where})


def tenants() -> dict[str, str]:
    """The organisations that have left a key here, by slug, with the address of their pages."""
    try:
        desk = place.read("form-keys")
    except place.NotUp:
        return {}
    keys = desk["keys"]
    assert isinstance(keys, dict)
    return {slug: f"{desk['pages']}/t/{slug}" for slug in keys}


def list_page(query: Mapping[str, str]) -> web.Answer:
    known = tenants()
    intro = "<p>Each button starts a run of the refund desk. Its model is scripted and follows the case.</p>"
    if not known:
        intro = "<p>No organisation has left a key here yet, so nothing can be started.</p>"
    if query.get("tenant") in known:
        link = f"{known[query['tenant']]}/runs/{quote(query.get('run', ''))}/"
        intro += f'<p role="status">Case {escape(query.get("case", ""))} was started: <a href="{link}">its run</a>.</p>'
    rows = [_row(case, known) for case in cases.load().cases]
    return pages.page("Support form", body=intro + pages.table(("Case", "What it is", "Mail", "Start"), rows=rows))


def _row(case: cases.Case, known: Mapping[str, Any]) -> tuple[str, ...]:
    what = pages.visible(case.title) + (f"<br><small>{pages.visible(case.nasty)}</small>" if case.nasty else "")
    mail = (
        f"<details><summary>{pages.visible(case.subject)}</summary><pre>{pages.visible(case.message)}</pre></details>"
    )
    return case.id, f'<span lang="{case.language}">{what}</span>', mail, "".join(_button(case, slug) for slug in known)


def _button(case: cases.Case, slug: str) -> str:
    return (
        f'<form method="post" action="/start"><input type="hidden" name="case" value="{escape(case.id)}">'
        f'<button name="tenant" value="{escape(slug)}">Start case {escape(case.id)} in {escape(slug)}</button></form>'
    )


def main() -> None:
    server = web.bind("form", respond)
    place.announce("form", **web.address_of(server))
    server.serve_forever()


if __name__ == "__main__":
    main()
