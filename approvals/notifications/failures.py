"""What can go wrong with a delivery, and how long to wait before the next try."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

FIRST_PAUSE, LONGEST_PAUSE, LONGEST_TOLD = 5.0, 3600.0, 86400.0
MOST_ATTEMPTS = {"email": 12, "chat": 12, "webhook": 20}


@dataclass(frozen=True)
class Failure:
    """Why a message was not taken.

    `final` where this address or message is refused for good; `gone` where the far side says that there is nothing
    any more (410); `silent` where nobody answered; `wait` is what the far side asked for, in seconds.
    """

    why: str
    final: bool = False
    gone: bool = False
    silent: bool = False
    wait: float = 0.0


def of_answer(status: int, retry_after: str, *, now: datetime) -> Failure | None:
    """What a webhook's answer means: None for 2xx. Redirects are failures, since none is followed."""
    if 200 <= status < 300:
        return None
    if status == 410:
        return Failure("410: the receiver says that it is gone for good", final=True, gone=True)
    if 300 <= status < 400:
        return Failure(f"{status}: it redirects, and redirects are not followed")
    return Failure(f"The receiver answered {status}", wait=told_wait(retry_after, now=now))


def told_wait(text: str, *, now: datetime) -> float:
    """The seconds that a Retry-After asks for, by number or date; 0 for none, at most a day."""
    if text.strip().isdecimal():
        return min(float(text), LONGEST_TOLD)
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return min(max((at - now).total_seconds(), 0.0), LONGEST_TOLD)


def pause(attempts: int, wait: float = 0.0) -> timedelta:
    """How long to wait after so many attempts: doubled each time, spread by half, and no less than was asked for."""
    ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(attempts - 1, 20))
    spread = ceiling * (0.5 + random.random() / 2)  # noqa: S311  Only spreads the load.
    return timedelta(seconds=max(spread, wait))
