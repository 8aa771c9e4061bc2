"""What counts as a failed start of a child, and when starting it again is given up."""

import subprocess
import time
from typing import Any

import pytest

from config.supervisor.child import Child


class Ended:
    """A process that has ended."""

    def __init__(self, code: int) -> None:
        self.returncode = code


def lived(child: Child, seconds: float, code: int) -> None:
    child.process = Ended(code)  # type: ignore[assignment]
    child.started = time.monotonic() - seconds
    child.note_death()


@pytest.fixture
def child() -> Child:
    running: Any = Ended(0)
    return Child("worker", lambda: subprocess.Popen(["true"]), running=running, works_from=2)


@pytest.mark.parametrize("code", [1, -9])
def test_three_short_lives_in_a_row_are_enough(child: Child, code: int) -> None:
    for _ in range(2):
        lived(child, 1, code)
        assert not child.hopeless
    lived(child, 1, code)
    assert child.hopeless


def test_a_long_life_begins_the_count_anew(child: Child) -> None:
    for seconds in (1, 1, 31, 1, 1):
        lived(child, seconds, 1)
    assert not child.hopeless


def test_what_ends_by_itself_within_thirty_seconds_failed_to_start(child: Child) -> None:
    for _ in range(3):
        lived(child, 20, 1)
    assert child.hopeless


def test_what_its_work_killed_did_not_fail_to_start(child: Child) -> None:
    for _ in range(9):
        lived(child, 3, -9)
    assert not child.hopeless


def test_without_work_a_signal_is_a_failed_start_for_thirty_seconds() -> None:
    running: Any = Ended(0)
    web = Child("web", lambda: subprocess.Popen(["true"]), running=running)
    for _ in range(3):
        lived(web, 29, -9)
    assert web.hopeless
