"""The pages of the demo's services: text is shown as text, and what hides in it is made visible."""

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from examples.refund_desk.web import Answer

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, "Noto Sans CJK SC", sans-serif; }
body { margin: 2rem auto; max-inline-size: 70rem; padding-inline: 1rem; }
table { border-collapse: collapse; inline-size: 100%; }
th, td { border-block-end: 1px solid #8886; padding: .4rem .6rem; text-align: start; vertical-align: top;
         overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; padding: 1rem; }
.hidden { border: 1px solid currentcolor; font-size: .8em; padding-inline: .2em; unicode-bidi: isolate; }
nav a { margin-inline-end: 1rem; }
"""


def style() -> Answer:
    """The one style sheet; pages carry none of their own."""
    return Answer(STYLE, media_type="text/css; charset=utf-8")


def visible(text: str) -> str:
    """HTML that shows `text` as it is; each character that has no form of its own stands as its code."""
    return "".join(_mark(letter) for letter in text)


def _mark(letter: str) -> str:
    if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cf", "Co", "Cn", "Cs"}:
        return escape(letter)
    return f'<span class="hidden">U+{ord(letter):04X}</span>'


def page(title: str, *, body: str) -> Answer:
    """A whole page around `body`, which is already HTML."""
    return Answer(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="/style.css"></head>'
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def table(headings: Sequence[str], *, rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are already HTML."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
