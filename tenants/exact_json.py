"""JSON whose numbers and text survive: one loader, one writer, one canonical form, one digest.

Canonical is RFC 8785 for structure, strings and key order, extended to exact numbers: by value, in
plain notation, never through a double.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

MAX_DEPTH = 64
MAX_EXPONENT = 400
MAX_DIGITS = 4000
RULE = 1

_SURROGATE = re.compile("[\ud800-\udfff]")
_escape: Callable[[str], str] = json.encoder.encode_basestring


class BadJson(ValueError):
    """The text is not JSON that can be kept exactly; the message is a sentence for people."""

    @property
    def message(self) -> str:
        """Why, as a sentence."""
        return str(self)


def loads(text: str | bytes) -> Any:
    """The value of a JSON text, numbers as int or Decimal; raises BadJson, never RecursionError.

    Refused: what is not JSON, duplicate keys, NaN and infinities, NUL and lone surrogates in strings,
    nesting deeper than 64, exponents beyond 400 and numbers of more than 4000 digits.
    """
    try:
        text = _decoded(text)
        value = (_decoder if len(text) > MAX_DIGITS else _decoder_of_short).decode(text)
    except BadJson:
        raise
    except RecursionError:
        raise BadJson(f"The JSON is nested more than {MAX_DEPTH} levels deep.") from None
    except json.JSONDecodeError as error:
        raise BadJson(f"This is not JSON: {error.msg} at character {error.pos + 1}.") from None
    if not _is_harmless(text):
        check(value)
    return value


def _is_harmless(text: str) -> bool:
    """Whether the text itself shows that `check` finds nothing: no escape by number, too few brackets to be deep."""
    no_half = "\\u" not in text and (text.isascii() or not _SURROGATE.search(text))
    return no_half and text.count("[") + text.count("{") <= MAX_DEPTH


def dumps(value: Any) -> str:
    """The value as JSON text: key order kept, numbers exact and plain, non-ASCII letters as they are."""
    return _written(value, canon=False)


def canonical(value: Any) -> str:
    """The one text of all JSON texts with this value: keys sorted by UTF-16 code units, no space."""
    return _written(value, canon=True)


def digest(value: Any, *, key: bytes | None = None) -> str:
    """The hexadecimal SHA-256 of the canonical value and the number of this rule; HMAC under a key."""
    return digest_of_canonical(_written(value, canon=True, depth=1), key=key)


def digest_of_canonical(written: str, *, key: bytes | None = None) -> str:
    """The same of a value that is written canonically already."""
    text = f'{{"v":{RULE},"value":{written}}}'.encode()
    if key is not None:
        return hmac.new(key, text, hashlib.sha256).hexdigest()
    return hashlib.sha256(text).hexdigest()


def check(value: Any) -> None:
    """Raise BadJson where a string holds NUL or half a character, or the nesting is too deep."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        if depth >= MAX_DEPTH and isinstance(item, Mapping | list | tuple):
            raise BadJson(f"The JSON is nested more than {MAX_DEPTH} levels deep.")
        if isinstance(item, str):
            check_text(item)
        elif isinstance(item, Mapping):
            waiting.extend((part, depth + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list | tuple):
            waiting.extend((part, depth + 1) for part in item)


def check_text(text: str) -> None:
    """Raise BadJson where the text holds NUL or half a character, which PostgreSQL cannot keep."""
    if "\0" in text:
        raise BadJson("A text holds the NUL character (\\u0000), which cannot be kept.")
    if not text.isascii() and _SURROGATE.search(text):
        raise BadJson("A text holds half of a surrogate pair, which is no character.")


def plain(value: int | Decimal) -> str:
    """The number in plain notation without trailing zeros; `0` for every zero."""
    if isinstance(value, int):
        return str(value)
    if not value:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise BadJson("The text is not UTF-8.") from None


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise BadJson(f"A number has more than {MAX_DIGITS} digits.")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise BadJson(f"A number has more than {MAX_DIGITS} digits.")
    exponent = text.lower().partition("e")[2].lstrip("+-0")
    if len(exponent) > 3 or (exponent and int(exponent) > MAX_EXPONENT):
        raise BadJson(f"A number has an exponent beyond {MAX_EXPONENT}.")
    return Decimal(text)


def _constant(text: str) -> NoReturn:
    raise BadJson(f"{text} is no JSON number.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise BadJson("An object names one of its keys twice.")
    return value


_decoder = json.JSONDecoder(
    parse_int=_integer, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=_object
)


_decoder_of_short = json.JSONDecoder(parse_float=_decimal, parse_constant=_constant, object_pairs_hook=_object)
"""For texts in which no number can have too many digits."""


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _written(value: Any, *, canon: bool, depth: int = 0) -> str:
    if (write := _AT_ONCE.get(type(value))) and (text := write(value, canon)):
        return text
    found: list[str] = []
    _write(value, found.append, canon=canon, depth=depth)
    return "".join(found)


def _write(value: Any, put: Callable[[str], None], *, canon: bool, depth: int) -> None:
    if depth > MAX_DEPTH + 2:
        raise BadJson(f"The JSON is nested more than {MAX_DEPTH} levels deep.")
    if depth < MAX_DEPTH and (write := _AT_ONCE.get(type(value))) and (text := write(value, canon)):
        put(text)
    elif type(value) is int:
        put(str(value))
    elif isinstance(value, str):
        check_text(value)
        put(_escape(value))
    elif isinstance(value, dict | Mapping):
        _write_members(value, put, canon=canon, depth=depth)
    elif isinstance(value, list | tuple):
        between = "["
        for item in value:
            put(between)
            _write(item, put, canon=canon, depth=depth + 1)
            between = ","
        put("]" if value else "[]")
    else:
        put(_scalar(value, canon=canon))


_TEXT = {str}
_PLAIN: Mapping[type, Callable[[Any], str]] = {
    str: _escape,
    int: str,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}


def _object_at_once(value: dict[Any, Any], canon: bool) -> str:  # As the other one.
    """The text of an object of nothing but texts and whole numbers, several times faster; empty where it holds anything
    else, its keys' order is not that of ASCII, or a text has to be looked at."""
    pairs: Iterable[tuple[Any, Any]] = value.items()
    if canon and len(value) > 1:
        if not _TEXT.issuperset(map(type, value)):
            return ""
        pairs = sorted(pairs)
    members = []
    for name, each in pairs:
        write = _PLAIN.get(type(each))
        if write is None or type(name) is not str or (canon and not name.isascii()):
            return ""
        members.append(f"{_escape(name)}:{write(each)}")
    return _sound(f"{{{','.join(members)}}}")


def _list_at_once(value: Sequence[Any], _canon: bool) -> str:
    """The same of a list."""
    items = []
    for each in value:
        write = _PLAIN.get(type(each))
        if write is None:
            return ""
        items.append(write(each))
    return _sound(f"[{','.join(items)}]")


def _sound(text: str) -> str:
    """The text, if none of its strings has to be looked at."""
    return text if "\\u" not in text and (text.isascii() or not _SURROGATE.search(text)) else ""


_AT_ONCE: Mapping[type, Callable[[Any, bool], str]] = {dict: _object_at_once, list: _list_at_once, tuple: _list_at_once}


def _write_members(value: Mapping[str, Any], put: Callable[[str], None], *, canon: bool, depth: int) -> None:
    between = "{"
    for key in sorted(map(_key, value), key=_utf16) if canon else map(_key, value):
        put(f"{between}{_escape(key)}:")
        _write(value[key], put, canon=canon, depth=depth + 1)
        between = ","
    put("}" if value else "{}")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise BadJson(f"The key {key!r} is no text.")
    check_text(key)
    return key


def _scalar(value: object, *, canon: bool) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, Decimal) and not value.is_finite():
        raise BadJson(f"{value} is no JSON number.")
    if isinstance(value, int | Decimal):
        return plain(value) if canon else format(value, "d" if isinstance(value, int) else "f")
    raise BadJson(f"A value of type {type(value).__name__} cannot be written as JSON.")
