"""What is wrong with a condition that does not parse, in plain words: where, at which text, what to write instead."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.+)")
_READ = re.compile(r"(?:extraneous|mismatched) input '(.+?)' expecting|at(?: input)?:? '(.+)'$|identifier: (\w+)")
_THOUSANDS = re.compile(r"\d,\d{3}\b")
FRAGMENT = 24
END = "<EOF>"
QUOTES = "“”„‘’«»"
INSTEAD: Mapping[str, str | Promise] = {
    "=": gettext_lazy("Write == for “equals”."),
    "=>": gettext_lazy("Write >= for “at least”."),
    "=<": gettext_lazy("Write <= for “at most”."),
    "<>": gettext_lazy("Write != for “is not”."),
    "≥": gettext_lazy("Write >= for “at least”."),
    "≤": gettext_lazy("Write <= for “at most”."),
    "≠": gettext_lazy("Write != for “is not”."),
    "&": gettext_lazy("Write && for “and”."),
    "and": gettext_lazy("Write && for “and”."),
    "|": gettext_lazy("Write || for “or”."),
    "or": gettext_lazy("Write || for “or”."),
    "not": gettext_lazy("Write ! for “not”, before what it denies."),
    "is": gettext_lazy("Write == for “equals”."),
}


class Place(NamedTuple):
    """Where the reading stopped, counted from 1, the text it stopped at, and the reader's own words."""

    line: int
    column: int
    read: str
    words: str


def told(source: str, error: str) -> str:
    """The reader's `error` about `source` as a sentence for the person who wrote it."""
    place = _place(source, error)
    if place is None:
        return _("The condition cannot be read.")
    where = {"line": place.line, "column": place.column, "text": _fragment(source, place)}
    if place.read == END:
        at = _("The condition cannot be read: it ends too early (line %(line)s, column %(column)s, after “%(text)s”).")
    else:
        at = _("The condition cannot be read at “%(text)s” (line %(line)s, column %(column)s).")
    return f"{at % where} {_why(source, place)}"


def _place(source: str, error: str) -> Place | None:
    """The first fault that the reader names; what follows it is mostly its consequence."""
    found = _ERROR.search(error)
    if found is None:
        return None
    read = _READ.search(found[3])
    text = next((each for each in read.groups() if each), "") if read else ""
    line, column = int(found[1]), int(found[2])
    ended = not _line(source, line)[column - 1 :].strip()
    return Place(line, column, END if ended else text.strip(), found[3])


def _line(source: str, number: int) -> str:
    return source.split("\n")[number - 1] if 0 < number <= source.count("\n") + 1 else ""


def _fragment(source: str, place: Place) -> str:
    """The text from the fault on; of what ends too early, the text before it."""
    line = _line(source, place.line)
    if place.read == END:
        before = line[: place.column - 1].strip() or source.strip()
        return ("…" if len(before) > FRAGMENT else "") + before[-FRAGMENT:].strip()
    after = line[place.column - 1 :].strip()
    return after[:FRAGMENT].strip() + ("…" if len(after) > FRAGMENT else "")


def _why(source: str, place: Place) -> str:
    line = _line(source, place.line)
    word = _word(line, place)
    if word in INSTEAD:
        return str(INSTEAD[word])
    if missing := re.match(r"Syntax error: missing '(.)'", place.words):
        return _("A %(bracket)s is missing.") % {"bracket": missing[1]}
    if place.read == END:
        return _("Something to compare with, or a name, has to follow.")
    if place.read[:1] in ("'", '"'):
        return _("A quotation mark is opened here and not closed.")
    if place.read[:1] and place.read[0] in QUOTES:
        return _('Write plain quotation marks: "EUR".')
    if place.read[:1] in (")", "]", "}"):
        return _("This bracket closes nothing.")
    if place.read == "," and _THOUSANDS.match(line[max(place.column - 2, 0) :]):
        return _("Write a number without separators: 1000.")
    if "reserved identifier" in place.words:
        return _("This word is reserved in the language and names nothing.")
    if "has() macro" in place.words:
        return _("has() asks for one value by its path, such as has(args.note).")
    return _("This is not expected here.")


def _word(line: str, place: Place) -> str:
    """The operator or word at the fault, or the `not` before it, in small letters."""
    before = re.search(r"\b(not)\s*$", line[: place.column - 1], re.IGNORECASE)
    if before:
        return before[1].lower()
    doubled = line[max(place.column - 2, 0) : place.column]
    if doubled in ("<>", "=<"):
        return doubled
    return place.read.lower()
