"""What the demo says when everything is up: where its pages are, and who may sign in."""

import unicodedata
from collections.abc import Sequence

from django.conf import settings

from examples.refund_desk import place
from examples.refund_desk.people import ORGANISATIONS, PASSWORD, Organisation

SERVICES = {
    "form": "Support form, starts any case",
    "mail": "Mail sink, every message that was sent",
    "ledger": "Ledger, every refund that was paid",
    "carrier": "Carrier, every label that was printed",
}


def text() -> str:
    """The whole greeting, several lines."""
    lines = [line for org in ORGANISATIONS for line in organisation(org)]
    lines += [f"Everybody's password is {PASSWORD}", ""]
    lines += columns([(place.url(name), title) for name, title in SERVICES.items()])
    lines += ["", "The model is scripted and follows the cases; DEMO_MODEL=provider:name uses a real one."]
    return "\n".join(["", *lines, ""])


def organisation(org: Organisation) -> list[str]:
    people = [(person.email, person.name, ", ".join(person.roles) or "member") for person in org.people]
    return [f"{org.name}: {settings.PUBLIC_URL}/t/{org.slug}/inbox/", *columns(people), ""]


def columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as aligned text; a Chinese character is two columns wide."""
    widths = [max(width(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        ("  " + "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
