"""The far side's own book: one line for each time a tool or a model really ran; the only proof that counts."""

import json
import os
from pathlib import Path
from typing import Any

from tests.settings import FOLDER

PATH = Path(FOLDER) / "ledger.jsonl"


def enter(**line: Any) -> None:
    """Append one line at once; a process killed right after has still entered it."""
    text = json.dumps(line) + "\n"
    handle = os.open(PATH, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def entries(run: Any, kind: str = "act") -> list[dict[str, Any]]:
    """What was entered about this run: `act` for tools, `model` for model requests."""
    if not PATH.exists():
        return []
    lines = [json.loads(line) for line in PATH.read_text().splitlines()]
    return [line for line in lines if line["run"] == str(run) and line["kind"] == kind]


def acts(run: Any, tool: str = "") -> list[dict[str, Any]]:
    """The times a tool of this run really ran."""
    return [line for line in entries(run) if tool in ("", line["tool"])]


def asked(run: Any) -> list[dict[str, Any]]:
    """The requests that the model of this run really got."""
    return entries(run, "model")
