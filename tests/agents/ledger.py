"""The far side's own book: one line for each time a tool or a model really ran; the only proof that counts."""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["TEST_SERVICES"]) / "ledger"


def enter(*, run: str, **line: Any) -> None:
    """Append one line at once; a process killed right after has still entered it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    handle = os.open(FOLDER / f"{run}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(handle, (json.dumps(line) + "\n").encode())
    finally:
        os.close(handle)


def entries(run: Any, kind: str = "act") -> list[dict[str, Any]]:
    """What was entered about this run: `act` for tools, `model` for model requests."""
    path = FOLDER / f"{run}.jsonl"
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


def acts(run: Any, tool: str = "") -> list[dict[str, Any]]:
    """The times a tool of this run really ran."""
    return [line for line in entries(run) if tool in ("", line["tool"])]


def asked(run: Any) -> list[dict[str, Any]]:
    """The requests that the model of this run really got."""
    return entries(run, "model")


def admit(run: Any, *, per_second: int) -> bool:
    """Whether a service that takes so many requests a second, of all runs together, takes this one."""
    with (FOLDER / "door.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        at = time.time()
        taken = [line for line in entries("door", "taken") if at - line["at"] < 1]
        if len(taken) < per_second:
            enter(run="door", kind="taken", at=at)
        enter(run=str(run), kind="door", at=at, taken=len(taken) < per_second)
    return len(taken) < per_second


def let_go(run: Any) -> None:
    """Let the calls of this run that hold (`how="hold"`) come to their end."""
    enter(run=str(run), kind="let go")
