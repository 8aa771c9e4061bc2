"""Identifiers: UUIDs of version 7, made by us, sortable by the time they were made."""

import os
import time
from uuid import UUID

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
READABLE = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without the letters that are read as digits, or as others."""


def new() -> UUID:
    """A fresh id: 48 bits of milliseconds, then 74 random bits (RFC 9562, section 5.7)."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 2 << 62
    return UUID(int=value)


def parse(text: object) -> UUID | None:
    """The id that `text` writes, or None where it writes none: a malformed id is an unknown one."""
    try:
        return UUID(str(text))
    except ValueError:
        return None


def short(value: UUID) -> str:
    """The id as 22 letters and digits, for places where people copy it."""
    number, text = value.int, ""
    while number:
        number, digit = divmod(number, 62)
        text = DIGITS[digit] + text
    return text.rjust(22, "0")


def reference(value: UUID) -> str:
    """Four letters and digits by which people tell what they talk about from its neighbours; it is no address."""
    number = value.int
    return "".join(READABLE[number >> shift & 31] for shift in (15, 10, 5, 0))


def unshort(text: str) -> UUID | None:
    """The id that `short` wrote as `text`, or None where it wrote no such text."""
    number = 0
    for letter in text:
        place = DIGITS.find(letter)
        if place < 0:
            return None
        number = number * 62 + place
    return UUID(int=number) if len(text) == 22 and number < 2**128 else None
