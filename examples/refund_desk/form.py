"""Iris Holm's support form: lists the customers' cases, and starts a run for the one whose button is pressed.

At its first start it sends in the cases that came over night. Run it alone with
`python -m examples.refund_desk.form`.
"""

from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from threading import Thread
from urllib.parse import parse_qsl, quote

import httpx

from examples.refund_desk import cases, pages, place, web
from examples.refund_desk.sending import Outbox, Refused


class Form:
    """The page, and the button behind it."""

    def __init__(self) -> None:
        self.outbox = Outbox()

    def respond(self, request: web.Request) -> web.Answer:
        match request.method, request.path:
            case "GET", "/":
                return self.page()
            case "GET", "/style.css":
                return pages.style()
            case "POST", "/start":
                return self.start(dict(parse_qsl(request.body.decode("utf-8", "replace"))))
        return web.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    def start(self, fields: Mapping[str, str]) -> web.Answer:
        """Starts the run and leads back to the list, which then links to it."""
        case, tenant = cases.find(fields.get("case", "")), fields.get("tenant", "")
        if case is None or tenant not in place.form_keys():
            return web.problem(HTTPStatus.BAD_REQUEST, "There is no such case or no such organisation.")
        try:
            self.outbox.send(tenant, case)
        except (Refused, httpx.HTTPError, place.NotUp) as error:
            return web.problem(HTTPStatus.BAD_GATEWAY, f"The run was not started. {error}")
        return web.Answer("", HTTPStatus.SEE_OTHER, headers={"Location": f"/#case-{quote(case.id)}"})

    def page(self) -> web.Answer:
        tenants = list(place.form_keys())
        intro = "Each button starts a run of the refund desk. Its model is scripted and follows the case."
        if not tenants:
            intro = "No organisation has left a key here yet, so nothing can be started."
        sent = {tenant: self.outbox.last(tenant) for tenant in tenants}
        rows = [
            (
                f'<span id="case-{case.id}">{case.id}</span>',
                what(case),
                mail(case),
                *(button(case, tenant) + link(tenant, sent[tenant].get(case.id)) for tenant in tenants),
            )
            for case in cases.load().cases
        ]
        table = pages.table(("Case", "What it is", "Mail", *tenants), rows=rows, long=("What it is", "Mail"))
        return pages.page("Support form", body=f"<p>{intro}</p>{table}")


def what(case: cases.Case) -> str:
    nasty = f"<br><small>{pages.visible(case.nasty)}</small>" if case.nasty else ""
    return f'<span lang="{case.language}">{pages.visible(case.title)}{nasty}</span>'


def mail(case: cases.Case) -> str:
    return (
        f"<details><summary>{pages.visible(case.subject)}</summary><pre>{pages.visible(case.message)}</pre></details>"
    )


def button(case: cases.Case, tenant: str) -> str:
    number, slug = escape(case.id), escape(tenant)
    return (
        f'<form method="post" action="/start"><input type="hidden" name="case" value="{number}">'
        f'<button name="tenant" value="{slug}">Start case {number} in {slug}</button></form>'
    )


def link(tenant: str, sent: Mapping[str, str] | None) -> str:
    """The way to the last run of a case, where there is one."""
    if sent is None:
        return ""
    address = f"{place.read('form-keys')['pages']}/t/{quote(tenant)}/runs/{quote(sent['run'])}/"
    return f'<br><small><a href="{escape(address)}">Last run</a>, {pages.moment(sent["sent_at"])}</small>'


def main() -> None:
    form = Form()
    server = web.bind("form", form.respond)
    place.announce("form", **web.address_of(server))
    Thread(target=form.outbox.send_first_cases, daemon=True, name="first cases").start()
    server.serve_forever()


if __name__ == "__main__":
    main()
