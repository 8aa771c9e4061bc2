"""The pages of the demo's services: text is shown as text, and what hides in it is made visible."""

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from examples.refund_desk.web import Answer

STYLE = """
:root { color-scheme: light dark; background: canvas; color: canvastext; }
:root { font: 1rem/1.5 system-ui, "Noto Sans CJK SC", sans-serif; }
body { margin: 2rem auto; max-inline-size: 80rem; padding-inline: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; inline-size: 100%; }
th, td { border-block-end: 1px solid #8886; padding: .4rem .6rem; text-align: start; vertical-align: top; }
th, .short { white-space: nowrap; }
.long { overflow-wrap: anywhere; min-inline-size: 10rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; padding: 1rem; }
button { font: inherit; min-block-size: 2.25rem; }
form { display: inline-block; margin-inline-end: .6rem; }
summary { cursor: pointer; }
.hidden { border: 1px solid currentcolor; font-size: .8em; padding-inline: .2em; unicode-bidi: isolate; }
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


def table(headings: Sequence[str], *, rows: Iterable[Sequence[str]], long: Sequence[str] = ()) -> str:
    """A table of cells that are already HTML; those under a `long` heading may break anywhere."""
    kinds = ["long" if heading in long else "short" for heading in headings]
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    lines = "".join(
        "<tr>" + "".join(f'<td class="{kind}">{cell}</td>' for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def moment(at: str) -> str:
    """A time of a book for people, to the second."""
    return escape(at[:19].replace("T", " ")) + " UTC"
