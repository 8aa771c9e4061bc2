"""The demo's services as real processes, each test with its own folder and ports."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from examples.refund_desk import place


@dataclass
class Service:
    name: str
    module: str
    process: subprocess.Popen[bytes]

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=place.url(self.name), timeout=10, trust_env=False)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


Start = Callable[[str, str], Service]


@pytest.fixture
def local_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))
    return tmp_path


def said_by(process: subprocess.Popen[bytes], name: str) -> dict[str, Any]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            address = place.read(name)
        except place.NotUp:
            address = {}
        if address.get("pid") == process.pid:
            return address
        time.sleep(0.05)
    raise AssertionError(f"The {name} did not say where it listens (exit code {process.poll()}).")


@pytest.fixture
def start(local_dir: Path) -> Iterator[Start]:
    started: list[Service] = []

    def begin(name: str, module: str) -> Service:
        process = subprocess.Popen(
            [sys.executable, "-m", module], cwd=place.ROOT, env={**os.environ, "LOCAL_DIR": str(local_dir)}
        )
        service = Service(name, module, process)
        started.append(service)
        said_by(process, name)
        return service

    yield begin
    for service in started:
        service.kill()


@pytest.fixture
def ledger(start: Start) -> Service:
    return start("ledger", "examples.refund_desk.ledger")


@pytest.fixture
def mail(start: Start) -> Service:
    return start("mail", "examples.refund_desk.mailsink")


@pytest.fixture
def carrier(start: Start) -> Service:
    return start("carrier", "examples.refund_desk.carrier")
