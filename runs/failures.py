"""What an exception says about a call: its cause, and whether it proves that nothing happened."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from runs.errors import (
    InvalidArguments,
    ModelRefused,
    OutcomeUnknown,
    PermissionRefused,
    RateLimited,
    Transient,
)

HTTP_LIBRARIES = ("httpx", "httpx2")
MESSAGE_LIMIT = 1000


@dataclass(frozen=True)
class Failure:
    """One classified failure; `not_done` is True only where it is proved that nothing left.

    `cause` is one of timeout, rate_limited, server, connection, invalid, permission, crashed, error;
    `wait` is what the far side asked for, in seconds.
    """

    cause: str
    not_done: bool
    message: str
    wait: float | None = None


CRASHED = Failure("crashed", not_done=False, message="The worker vanished during the call.")


def timed_out(seconds: float) -> Failure:
    """The failure of a call that had no answer after so many seconds."""
    return Failure("timeout", not_done=False, message=f"No answer after {seconds:g} seconds.")


def classify(error: BaseException, *, now: datetime | None = None) -> Failure:
    """Name the failure; what no rule names may have happened."""
    for kind, cause, not_done in _NAMED:
        if isinstance(error, kind):
            return Failure(cause, not_done, _message(error), _told(getattr(error, "retry_after", None)))
    if isinstance(error, ModelRefused):
        return Failure(error.cause, not_done=True, message=_message(error))
    if name := _http_name(error):
        return _http(error, name, now or datetime.now(UTC))
    return Failure("error", not_done=False, message=_message(error))


_NAMED: tuple[tuple[type[BaseException], str, bool], ...] = (
    (Transient, "server", True),
    (RateLimited, "rate_limited", True),
    (InvalidArguments, "invalid", True),
    (PermissionRefused, "permission", True),
    (OutcomeUnknown, "error", False),
    (ConnectionRefusedError, "connection", True),
    (ConnectionError, "connection", False),
    (TimeoutError, "timeout", False),
)


def _http_name(error: BaseException) -> str:
    """The most special name that httpx gives this error; both generations of the library count."""
    for kind in type(error).__mro__:
        if kind.__module__.partition(".")[0] in HTTP_LIBRARIES:
            return kind.__name__
    return ""


_TRANSPORT = {
    "ConnectError": ("connection", True),
    "UnsupportedProtocol": ("invalid", True),
    "ConnectTimeout": ("timeout", False),
    "ReadTimeout": ("timeout", False),
    "WriteTimeout": ("timeout", False),
    "PoolTimeout": ("timeout", False),
    "TimeoutException": ("timeout", False),
}


def _http(error: BaseException, name: str, now: datetime) -> Failure:
    response = getattr(error, "response", None) if name == "HTTPStatusError" else None
    if response is not None:
        return answered(response.status_code, response.headers, now=now, message=_message(error))
    cause, not_done = _TRANSPORT.get(name, ("connection", False))
    return Failure(cause, not_done, _message(error))


def answered(status: int, headers: Mapping[str, str], *, now: datetime, message: str) -> Failure:
    """The failure that an HTTP status outside 2xx stands for."""
    wait = retry_after(headers.get("retry-after"), now=sent_at(headers, now=now))
    if status == 429:
        return Failure("rate_limited", not_done=True, message=message, wait=wait)
    if status == 408:
        return Failure("timeout", not_done=False, message=message)
    if status in (409, 423) or not 400 <= status < 500:
        return Failure("server" if status >= 500 else "error", not_done=False, message=message, wait=wait)
    return Failure("permission" if status in (401, 403) else "invalid", not_done=True, message=message)


def retry_after(value: str | None, *, now: datetime) -> float | None:
    """Seconds to wait by a Retry-After header, a number or an HTTP date; None for the past and for nonsense."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _until(value, now)
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def sent_at(headers: Mapping[str, str], *, now: datetime) -> datetime:
    """When the far side sent this, by its own clock, which its dates go by; `now` where it does not say."""
    return _moment(headers.get("date") or "") or now


def _until(value: str, now: datetime) -> float:
    moment = _moment(value)
    return (moment - now).total_seconds() if moment else 0.0


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _told(seconds: Any) -> float | None:
    """The wait that a tool or a model named, in seconds; what is no such number counts as none."""
    try:
        told = float(seconds)
    except (TypeError, ValueError, OverflowError):
        return None
    return told if math.isfinite(told) and told > 0 else None


def _message(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # An error that cannot say what it is stays an error, whose kind is known.
        said = ""
    return storable(said or type(error).__name__)[:MESSAGE_LIMIT]


def storable(text: Any) -> str:
    """Text that PostgreSQL and UTF-8 can carry: NUL and lone surrogates are made visible, nothing is cut."""
    told = str(text)
    if type(told) is str and told.isascii() and "\0" not in told:
        return told
    return told.replace("\0", "␀").encode("utf-8", "backslashreplace").decode("utf-8")
