"""Text that may deceive, cut at its hidden characters, so that a page can mark each in its place."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

BEGINNING = 280
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_NAMES = {
    "\u200b": "zero-width space",
    "\u2060": "word joiner",
    "\ufeff": "byte order mark",
    "\u00ad": "soft hyphen",
    "\u202e": "right-to-left override",
    "\u202d": "left-to-right override",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
}
# Letters and marks that draw nothing, though Unicode does not call them control characters.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_JOINING_SCRIPTS = ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO")
_INDIC_SCRIPTS = ("DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA",
                  "MALAYALAM", "SINHALA", "KHMER", "MYANMAR")  # fmt: skip
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Piece:
    """One stretch of text; for a hidden character its plain name, and its code in `hidden`."""

    text: str
    hidden: str | None = None


@dataclass(frozen=True)
class Shown:
    """Text cut at its hidden characters; `str()` writes those as `[U+202E]`."""

    pieces: tuple[Piece, ...]

    def __str__(self) -> str:
        return "".join(f"[{piece.hidden}]" if piece.hidden else piece.text for piece in self.pieces)

    @property
    def hidden(self) -> int:
        """How many hidden characters there are."""
        return sum(1 for piece in self.pieces if piece.hidden)

    @property
    def hidden_names(self) -> list[str]:
        """The plain names of the hidden characters, each once, in the order they come."""
        return list(dict.fromkeys(piece.text for piece in self.pieces if piece.hidden))

    @property
    def alike(self) -> list[str]:
        """Words that mix scripts whose letters look alike, also where a hidden character cuts one."""
        return lookalikes("".join(piece.text for piece in self.pieces if not piece.hidden))


def shown(text: str) -> Shown:
    """`text` with every hidden character as a piece of its own; nothing is left out."""
    return Shown(tuple(_pieces(text)))


def beginning(text: str, limit: int = BEGINNING) -> Shown:
    """The first characters of `text`, at most `limit`, never cut inside what reads as one character; "…" if cut."""
    cut = _safe_cut(text, limit)
    return shown(text if cut >= len(text) else f"{text[:cut]}…")


def without_hidden(text: str) -> str:
    """`text` with its hidden characters taken out."""
    return "".join(piece.text for piece in shown(text).pieces if not piece.hidden)


def says(text: str) -> bool:
    """Whether a person who reads the text would see anything."""
    return bool(without_hidden(text).strip())


def lookalikes(text: str) -> list[str]:
    """Words of `text` that mix scripts whose letters look alike (a Latin word with a Cyrillic а)."""
    return [word for word in dict.fromkeys(_WORD.findall(text)) if len(_scripts(word)) > 1]


def _pieces(text: str) -> Iterator[Piece]:
    start = 0
    for at, char in enumerate(text):
        if _is_hidden(text, at):
            if start < at:
                yield Piece(text[start:at])
            yield Piece(_name(char), f"U+{ord(char):04X}")
            start = at + 1
    if start < len(text):
        yield Piece(text[start:])


def _is_hidden(text: str, at: int) -> bool:
    char = text[at]
    if char < "\x7f":
        return char < " " and char not in "\n\t"
    if char in (_ZWNJ, _ZWJ):
        return not _joins(text, at)
    if 0xFE00 <= ord(char) <= 0xFE0F:
        keycap = text[at + 1 : at + 2] == "\u20e3"
        return at == 0 or not (keycap or _is_pictograph(text[at - 1]))
    if 0xE0100 <= ord(char) <= 0xE01EF or char in _BLANK:
        return True
    return unicodedata.category(char) in _HIDDEN_CATEGORIES


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands where writing needs it: inside an emoji, or between letters that join."""
    if at == 0 or at + 1 >= len(text):
        return False
    before, after = text[at - 1], text[at + 1]
    if text[at] == _ZWJ and _is_pictograph(before) and _is_pictograph(after):
        return True
    scripts = _JOINING_SCRIPTS + _INDIC_SCRIPTS
    return _script(before) in scripts and (_script(after) in scripts or after.isspace())


def _is_pictograph(char: str) -> bool:
    """Whether `char` can be part of an emoji: a symbol, a skin tone, or the selector after one."""
    return unicodedata.category(char) in ("So", "Sk", "Sm") or char in "\ufe0f\u203c\u2049"


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ", 1)[0]


def _scripts(word: str) -> set[str]:
    return {script for char in word if (script := _script(char)) in _ALIKE}


def _name(char: str) -> str:
    if char in _NAMES:
        return _NAMES[char]
    name = unicodedata.name(char, "").lower()
    if name:
        return name
    return "control character" if unicodedata.category(char) == "Cc" else "unassigned or private character"


def _safe_cut(text: str, limit: int) -> int:
    if len(text) <= limit:
        return len(text)
    cut = limit
    while cut > 0 and _continues(text, cut):
        cut -= 1
    return cut or limit


def _continues(text: str, at: int) -> bool:
    """Whether the character at `at` belongs to the one before it."""
    char = text[at]
    return (
        unicodedata.combining(char) != 0
        or unicodedata.category(char) in ("Mn", "Me")
        or char in (_ZWJ, "\ufe0f")
        or text[at - 1] == _ZWJ
        or 0x1F3FB <= ord(char) <= 0x1F3FF
    )
