"""JSON whose numbers and text survive; rfc8785 is the oracle where it can speak."""

import hashlib
import json
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tenants import exact_json
from tenants.exact_json import BadJson, canonical, digest, dumps, loads

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
small = st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=6)
scalars = st.none() | st.booleans() | texts


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4))


@given(trees(scalars | small))
def test_it_is_rfc_8785_where_that_can_speak(value: Any) -> None:
    assert canonical(value).encode() == rfc8785.dumps(value)


@given(
    st.dictionaries(st.text(max_size=3), st.none() | st.booleans() | st.text(max_size=6) | st.integers(), max_size=3)
)
def test_an_object_of_plain_values_is_written_as_its_members_are(value: dict[str, Any]) -> None:
    for write, keys in ((dumps, list(value)), (canonical, sorted(value, key=lambda key: key.encode("utf-16-be")))):
        try:
            members = [f"{write(key)}:{write(value[key])}" for key in keys]
        except BadJson:
            with pytest.raises(BadJson):
                write(value)
        else:
            assert write(value) == "{" + ",".join(members) + "}"


@given(st.floats(min_value=1e-6, max_value=1e20))
def test_numbers_are_those_of_rfc_8785_where_it_writes_no_exponent(value: float) -> None:
    assert canonical(loads(repr(value))).encode() == rfc8785.dumps(value)


@given(trees(scalars | numbers))
def test_what_is_written_is_read_back_exactly(value: Any) -> None:
    assert loads(dumps(value)) == value
    assert canonical(loads(canonical(value))) == canonical(value)


@given(trees(scalars | numbers))
def test_the_digest_is_of_the_value_and_not_of_the_text(value: Any) -> None:
    spaced = json.dumps(loads(dumps(value)), default=str, indent=3) if not _decimals(value) else dumps(value)
    assert digest(loads(spaced)) == digest(value)


def _decimals(value: Any) -> bool:
    return "." in dumps(value) or "E" in dumps(value)


@pytest.mark.parametrize(
    ("left", "right"),
    [("1", "1.0"), ("1.10", "1.1"), ("0", "-0.0"), ("100", "1e2"), ('{"a":1,"b":2}', '{ "b": 2, "a": 1 }')],
)
def test_one_value_has_one_digest(left: str, right: str) -> None:
    assert digest(loads(left)) == digest(loads(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1", "true"),
        ("1", '"1"'),
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.10000000000000000001"),
        ('"é"', '"e\u0301"'),
        ("[1,2]", "[2,1]"),
        ("null", '"null"'),
    ],
)
def test_two_values_have_two_digests(left: str, right: str) -> None:
    assert digest(loads(left)) != digest(loads(right))


@given(trees(scalars | numbers))
def test_the_digest_is_that_of_the_canonical_value_under_the_number_of_its_rule(value: Any) -> None:
    text = canonical({"v": exact_json.RULE, "value": value})
    assert digest(value) == hashlib.sha256(text.encode()).hexdigest()


def test_a_key_changes_the_digest() -> None:
    assert digest({"iban": "DE00"}, key=b"one") != digest({"iban": "DE00"}, key=b"two")
    assert digest({"iban": "DE00"}, key=b"one") != digest({"iban": "DE00"})


def test_numbers_beyond_a_double_stay() -> None:
    text = '{"id":9007199254740993,"amount":1.10,"big":12345678901234567890.00000001}'
    assert dumps(loads(text)) == text
    assert loads(text)["amount"] == Decimal("1.10")


def test_key_order_and_emoji_stay() -> None:
    text = '{"z":"\U0001f9d1\u200d\U0001f680","a":"\u05e9\u05dc\u05d5\u05dd"}'
    assert dumps(loads(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "-Infinity",
        '{"a":1,"a":2}',
        '"\\u0000"',
        '{"\\u0000":1}',
        '"\\ud800"',
        "1e401",
        "1e999999999",
        "1e99999999999999999999999",
        "1" * 5000,
        "1." + "0" * 5000,
        "[" * 65 + "]" * 65,
        "[" * 100_000,
        '{"a":' * 20_000,
        "",
        "{'a':1}",
        "[1,]",
        "01",
        "\ufeff1",
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadJson) as caught:
        loads(text)
    assert caught.value.message.endswith(".")


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    with pytest.raises(BadJson, match="UTF-8"):
        loads(b'"\xff"')


@pytest.mark.parametrize("text", ["[" * 64 + "]" * 64, "1e400", "-0", "1e-400"])
def test_what_is_just_within_bounds_is_kept(text: str) -> None:
    assert canonical(loads(canonical(loads(text)))) == canonical(loads(text))


@pytest.mark.parametrize("value", [float("nan"), Decimal("Infinity"), {1: 2}, "\0", "\udfff", object(), b"x"])
def test_what_is_no_json_is_never_written(value: Any) -> None:
    with pytest.raises(BadJson):
        dumps(value)


def test_a_float_of_ours_is_written_as_it_reads() -> None:
    assert dumps(0.1) == "0.1"
    assert exact_json.plain(Decimal("1E+3")) == "1000"
