"""What follows a failed attempt, for every pair of error and effect."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from hypothesis import given
from hypothesis import strategies as st

from runs import retries
from runs.errors import InvalidArguments, OutcomeUnknown, PermissionRefused, RateLimited, Transient
from runs.failures import CRASHED, Failure, classify, retry_after, storable, timed_out
from runs.retries import Fate, Terms
from runs.tools import Effect

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Try:
    """One attempt as the rules read it."""

    kind: str = "call"
    opened_at: datetime = NOW
    not_done: bool | None = False
    number: int = 1


def terms(effect: Effect, **changes: Any) -> Terms:
    settings: dict[str, Any] = {"max_attempts": 3, "timeout": 10.0, "key_lifetime": 3600.0}
    return Terms(effect=effect, **settings | {"can_ask": effect is Effect.LOOKUP} | changes)


def fate(error: Exception | Failure, effect: Effect, *before: Try, **changes: Any) -> Fate:
    failure = error if isinstance(error, Failure) else classify(error, now=NOW)
    tries = [*before, Try(not_done=failure.not_done)]
    return retries.after(failure, tries, terms=terms(effect, **changes), now=NOW).fate


def status(code: int, **headers: str) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://far.example/")
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(code, headers=headers, request=request))


DOUBTFUL = [
    OutcomeUnknown(),
    TimeoutError(),
    ValueError("a bug"),
    httpx.ReadTimeout("slow"),
    httpx.ConnectTimeout("slow"),
    httpx.ReadError("cut"),
    httpx.RemoteProtocolError("cut"),
    ConnectionResetError(),
    status(500),
    status(503),
    status(408),
    status(409),
    status(423),
    timed_out(3),
    CRASHED,
]
NOTHING_LEFT = [Transient("later"), RateLimited(), ConnectionRefusedError(), httpx.ConnectError("refused"), status(429)]
FOR_THE_MODEL = [InvalidArguments("no"), status(400), status(404), status(422)]
FOR_A_PERSON = [PermissionRefused("no"), status(401), status(403)]


@pytest.mark.parametrize("clock", [-600, 0, 600])
def test_a_date_is_read_by_the_clock_of_whoever_wrote_it(clock: int) -> None:
    """Also on a worker whose own clock is ten minutes wrong."""
    sent = {"date": "Sun, 01 Mar 2026 12:00:00 GMT", "retry-after": "Sun, 01 Mar 2026 12:00:10 GMT"}
    assert classify(status(429, **sent), now=NOW + timedelta(seconds=clock)).wait == 10


DOCUMENTED = {
    "`InvalidArguments`, 400, 404, 422, other 4xx": [*FOR_THE_MODEL, status(410), status(418)],
    "`PermissionRefused`, 401, 403": FOR_A_PERSON,
    "`RateLimited`, 429": [RateLimited(), status(429)],
    "`Transient`, connection refused": [Transient("later"), ConnectionRefusedError(), httpx.ConnectError("refused")],
    "time-out, 408": [timed_out(3), TimeoutError(), httpx.ReadTimeout("slow"), httpx.ConnectTimeout("s"), status(408)],
    "5xx, 409, 423": [status(500), status(503), status(409), status(423)],
    "connection broken after sending": [httpx.ReadError("cut"), httpx.RemoteProtocolError(""), ConnectionResetError()],
    "any other exception, `OutcomeUnknown`": [ValueError("a bug"), OutcomeUnknown()],
    "the worker vanished": [CRASHED],
}
FATES = {
    "again": Fate.AGAIN,
    "again, as told": Fate.AGAIN,
    "asked first": Fate.ASK,
    "unknown": Fate.UNKNOWN,
    "result for the model": Fate.FAIL,
    "a person is asked": Fate.PERSON,
}


def test_the_documented_table_is_the_one_that_runs() -> None:
    """Every row of `docs/reference/effects.md`, and no row that the document does not have."""
    text = (Path(django_settings.BASE_DIR) / "docs/reference/effects.md").read_text()
    lines = text.partition("| what came |")[2].partition("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    assert {row[0] for row in rows} == set(DOCUMENTED)
    for what, proves, repeatable, lookup, manual in rows:
        said = dict.fromkeys((Effect.READ, Effect.IDEMPOTENT, Effect.KEYED), FATES[repeatable])
        said |= {Effect.LOOKUP: FATES[lookup], Effect.MANUAL: FATES[manual]}
        for error in DOCUMENTED[what]:
            failure = error if isinstance(error, Failure) else classify(error, now=NOW)
            assert failure.not_done == (proves == "yes"), (what, error)
            assert {effect: fate(failure, effect) for effect in Effect} == said, (what, error)


@pytest.mark.parametrize("error", DOUBTFUL, ids=repr)
def test_what_may_have_happened_follows_the_effect(error: Any) -> None:
    found = {effect: fate(error, effect) for effect in Effect}
    assert found == {
        Effect.READ: Fate.AGAIN,
        Effect.IDEMPOTENT: Fate.AGAIN,
        Effect.KEYED: Fate.AGAIN,
        Effect.LOOKUP: Fate.ASK,
        Effect.MANUAL: Fate.UNKNOWN,
    }


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("error", NOTHING_LEFT, ids=repr)
def test_what_proves_that_nothing_left_is_tried_again(error: Any, effect: Effect) -> None:
    assert fate(error, effect) is Fate.AGAIN


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("error", FOR_THE_MODEL, ids=repr)
def test_arguments_that_are_refused_go_back_to_the_model(error: Any, effect: Effect) -> None:
    assert fate(error, effect) is Fate.FAIL


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("error", FOR_A_PERSON, ids=repr)
def test_a_missing_permission_is_a_matter_for_a_person(error: Any, effect: Effect) -> None:
    assert fate(error, effect) is Fate.PERSON


@pytest.mark.parametrize("effect", Effect)
def test_tries_are_bounded(effect: Effect) -> None:
    assert fate(Transient(), effect, Try(not_done=True), Try(not_done=True)) is Fate.FAIL


def test_tries_before_a_person_let_it_go_on_count_no_more() -> None:
    tries = [Try(not_done=True, number=number) for number in (1, 2, 3)]
    failure = classify(Transient(), now=NOW)
    assert retries.after(failure, tries, terms=terms(Effect.READ, spent=2), now=NOW).fate is Fate.AGAIN


@pytest.mark.parametrize("effect", [Effect.IDEMPOTENT, Effect.KEYED])
def test_a_call_that_may_have_happened_never_ends_as_failed(effect: Effect) -> None:
    assert fate(TimeoutError(), effect, Try(), Try()) is Fate.UNKNOWN
    assert fate(InvalidArguments(), effect, Try()) is Fate.UNKNOWN
    assert fate(TimeoutError(), Effect.READ, Try(), Try()) is Fate.FAIL


def test_a_key_is_used_only_while_the_far_side_remembers_it() -> None:
    old = Try(opened_at=NOW - timedelta(hours=2))
    assert fate(TimeoutError(), Effect.KEYED, old) is Fate.UNKNOWN
    assert fate(TimeoutError(), Effect.KEYED, old, can_ask=True) is Fate.ASK
    assert fate(Transient(), Effect.KEYED, Try(opened_at=old.opened_at, not_done=True)) is Fate.AGAIN


def test_a_lookup_that_found_nothing_clears_the_doubt() -> None:
    assert fate(Transient(), Effect.LOOKUP, Try(), Try("lookup", not_done=True)) is Fate.AGAIN
    assert fate(InvalidArguments(), Effect.LOOKUP, Try(), Try("lookup", not_done=True)) is Fate.FAIL


def test_a_lookup_waits_until_the_call_can_no_longer_be_running(settings: Any) -> None:
    settings.LEASE_MARGIN = 4.0
    follows = retries.after(CRASHED, [Try(opened_at=NOW - timedelta(seconds=5))], terms=terms(Effect.LOOKUP), now=NOW)
    assert (follows.fate, follows.pause) == (Fate.ASK, 9.0)


def test_a_told_wait_is_kept_and_spread() -> None:
    failure = classify(status(429, **{"retry-after": "10"}), now=NOW)
    pauses = [retries.after(failure, [Try(not_done=True)], terms=terms(Effect.READ), now=NOW).pause for _ in range(50)]
    assert min(pauses) >= 10
    assert max(pauses) < 20
    assert len(set(pauses)) > 40


@given(st.integers(1, 1000), st.floats(0, 1e9) | st.none())
def test_a_pause_is_never_longer_than_documented(attempt: int, told: float | None) -> None:
    assert 0 <= retries.backoff(attempt, told=told) <= 86400


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("1.5", 1.5),
        ("120", 120.0),
        ("Sun, 01 Mar 2026 12:00:10 GMT", 10.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", None),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
        ("1e400", None),
        ("Sun, 99 Mar 99999999999 12:00:10 GMT", None),
    ],
)
def test_retry_after_is_read_as_number_or_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, now=NOW) == seconds


@given(st.text())
def test_any_retry_after_is_read_without_error(header: str) -> None:
    assert (retry_after(header, now=NOW) or 1) > 0


@given(st.text(st.characters(), max_size=30))
def test_any_message_can_be_stored(text: str) -> None:
    assert "\x00" not in storable(text)
    storable(text).encode()
