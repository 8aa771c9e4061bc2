"""How the support form starts runs: over the product's own HTTP API, with each organisation's key."""

import time
from http import HTTPStatus
from typing import Any

import httpx

from examples.refund_desk import cases, place
from examples.refund_desk.book import Book, now
from examples.refund_desk.people import AGENT, ORGANISATIONS

SECONDS = 10
PAUSE = 1.0
REFUSALS = 60
TABLES = """
CREATE TABLE IF NOT EXISTS sent (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    case_id TEXT NOT NULL,
    run TEXT NOT NULL,
    sent_at TEXT NOT NULL
) STRICT;
"""


class Refused(Exception):
    """The product did not start the run; the text says why."""


class Outbox:
    """What the form has sent in; a run is written down once the product has said that it exists."""

    def __init__(self) -> None:
        self.book = Book(place.folder() / "form.sqlite", tables=TABLES, closed_to_change=("sent",))

    def send(self, tenant: str, case: cases.Case, *, key: str = "") -> str:
        """Starts a run for the case and returns its id; under the same `key` it is the same run.

        Raises Refused, httpx.TransportError, place.NotUp.
        """
        answer = httpx.post(
            f"{place.read('form-keys')['api']}/runs",
            headers=headers(tenant, key=key),
            json={"agent": AGENT, "input": {"case": case.id}, "title": case.title, "labels": {"case": case.id}},
            timeout=SECONDS,
            trust_env=False,
        )
        if answer.status_code != HTTPStatus.CREATED:
            raise Refused(f"{answer.status_code}: {answer.text[:1000]}")
        run = str(answer.json()["id"])
        with self.book.writing() as connection:
            values = (tenant, case.id, run, now())
            connection.execute("INSERT INTO sent (tenant, case_id, run, sent_at) VALUES (?, ?, ?, ?)", values)
        return run

    def last(self, tenant: str) -> dict[str, dict[str, Any]]:
        """The last run of each case in this organisation, by the case's number."""
        rows = self.book.rows("SELECT case_id, run, sent_at FROM sent WHERE tenant = ? ORDER BY number", tenant)
        return {row["case_id"]: row for row in rows}

    def send_first_cases(self) -> None:
        """Sends in the cases that came over night, each once, as soon as the product takes them.

        It waits for the web process as long as it takes, but gives up where the product keeps refusing.
        """
        waiting = [(org.slug, number) for org in ORGANISATIONS for number in org.first_cases]
        refusals = 0
        while waiting and refusals < REFUSALS:
            try:
                self.send_first(*waiting[0])
                waiting.pop(0)
            except (httpx.TransportError, place.NotUp):
                time.sleep(PAUSE)
            except Refused as refused:  # No worker has said yet that it knows the agent.
                refusals += 1
                if refusals == REFUSALS:
                    print(f"The support form could not start the first runs: {refused}", flush=True)
                time.sleep(PAUSE)

    def send_first(self, tenant: str, number: str) -> None:
        case = cases.find(number)
        if case is not None and number not in self.last(tenant):
            self.send(tenant, case, key=f"first-{number}")


def headers(tenant: str, *, key: str) -> dict[str, str]:
    found = place.form_keys()
    if tenant not in found:
        raise place.NotUp(f"The organisation {tenant} has left no key here.")
    once = {"Idempotency-Key": key} if key else {}
    return {"Authorization": f"Bearer {found[tenant]}", **once}
