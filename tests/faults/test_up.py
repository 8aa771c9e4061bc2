"""`manage.py up`: everything runs, comes back when it dies, and ends when it should."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from config import agent_modules, doctor

ROOT = Path(__file__).resolve().parents[2]
TOLD = ("DATABASE", "BROKER", "CHANNEL", "SECRET_KEY", "FIELD_KEYS", "AUDIT_KEY", "AGENT_MODULES", "DJANGO_SETTINGS")
SHEET = max((ROOT / "static/css").glob("*.css"), key=lambda each: each.stat().st_size)
SLOW = 120.0  # Seconds within which a busy machine starts everything.


def wait_for(what: Callable[[], bool], *, within: float) -> bool:
    deadline = time.monotonic() + within
    while not (found := what()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def table(columns: str) -> list[str]:
    """All processes of the machine, a line each."""
    told = subprocess.run(["ps", "-A", "-ww", "-o", columns], capture_output=True, text=True, check=True)
    return told.stdout.splitlines()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Up:
    """A started `up` and what can be seen of it."""

    process: subprocess.Popen[bytes]
    base: Path
    port: int
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text()

    def children(self) -> dict[int, str]:
        """The command line of each of its children, by process id."""
        rows = [line.split(maxsplit=2) for line in table("pid=,ppid=,args=")]
        return {int(row[0]): row[2] for row in rows if row[1] == str(self.process.pid) and "defunct" not in row[2]}

    def child(self, *words: str) -> int:
        return next((pid for pid, line in self.children().items() if all(word in line for word in words)), 0)

    def answers(self) -> bool:
        with suppress(httpx.HTTPError):
            return httpx.get(f"http://localhost:{self.port}/readyz", timeout=2).status_code == 200
        return False

    def left(self) -> list[str]:
        """Processes of this folder that still run: the services name it, the others have it as a setting."""
        return [line for line in table("args=") if str(self.base) in line or f"--port {self.port}" in line]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    made: list[Up] = []

    def start(*words: str, port: int = 0, folder: str = "local", **more: str) -> Up:
        port = port or free_port()
        base, output = tmp_path / folder, tmp_path / f"output-{len(made)}"
        env = {k: v for k, v in os.environ.items() if not k.startswith(TOLD)}
        env |= {"LOCAL_DIR": str(base), "PORT": str(port), "SWEEP_SECONDS": "1", **more}
        with output.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "up", *words], cwd=ROOT, env=env, stdout=file, stderr=file
            )
        made.append(Up(process, base, port, output))
        return made[-1]

    yield start
    for each in made:
        each.process.kill()
        each.process.wait()


def postgres_is_ready(up: Up) -> bool:
    return up.child("postgres", str(up.base)) > 0 and (up.base / "run.json").exists()


def test_everything_runs_comes_back_and_ends_with_a_control_c(up: Callable[..., Up]) -> None:
    running = up(folder="a path too long for the name of a socket, " * 3)
    assert wait_for(running.answers, within=SLOW), running.said
    assert httpx.get(f"http://localhost:{running.port}/static/css/{SHEET.name}").content == SHEET.read_bytes()
    for words in (("uvicorn",), ("celery", "worker"), ("celery", "beat"), ("postgres", "-D"), ("valkey-server",)):
        assert running.child(*words), (words, running.children(), running.said)
    told = json.loads((running.base / "run.json").read_text())
    assert told["DATABASE_URL"].startswith("postgresql://vermilion_app@")
    for words in (("uvicorn",), ("celery", "worker"), ("postgres", "-D")):
        before = running.children()
        killed = running.child(*words)
        os.kill(killed, signal.SIGKILL)
        assert wait_for(lambda k=killed, w=words: running.child(*w) not in (0, k), within=5), running.said
        assert set(before) - {killed} <= set(running.children())
    assert wait_for(running.answers, within=SLOW), running.said
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) == 0
    assert running.left() == []
    assert "Traceback" not in running.said
    assert "StreamingHttpResponse" not in running.said
    assert running.said.count("Ending; one moment.") == 1
    stages = ("Starting PostgreSQL and Valkey.", "Looking at the database.", "Starting the processes.", "answers at")
    assert sorted(running.said.index(stage) for stage in stages) == [running.said.index(stage) for stage in stages]
    assert running.said.endswith("All ended.\n")


def test_a_killed_supervisor_leaves_nothing(up: Callable[..., Up]) -> None:
    running = up()
    assert wait_for(lambda: len(running.children()) == 5, within=SLOW), running.said
    pids = {str(pid) for pid in running.children()}
    running.process.kill()
    running.process.wait()

    def alive() -> set[str]:
        rows = [line.split() for line in table("pid=,stat=")]
        return {row[0] for row in rows if not row[1].startswith("Z")}

    assert wait_for(lambda: not pids & alive(), within=15)
    assert running.left() == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_it_can_be_ended_before_it_is_up(up: Callable[..., Up], how: signal.Signals) -> None:
    running = up()
    assert wait_for(lambda: postgres_is_ready(running), within=SLOW), running.said
    running.process.send_signal(how)
    assert running.process.wait(60) == 0
    assert running.left() == []


def test_a_taken_port_is_said_in_one_line_and_nothing_is_started(up: Callable[..., Up]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        refused = up(port=other.getsockname()[1])
        assert refused.process.wait(SLOW) == 1
    assert len(refused.said.strip().splitlines()) == 1
    assert f"Port {refused.port} is taken" in refused.said
    assert not refused.base.exists()


BROKEN = {
    "import not_installed": "ModuleNotFoundError: No module named 'not_installed'",
    "from runs.agents import Agent\n\nTERMS = {}['terms']": "KeyError: 'terms'",
    "def answer(:\n    pass": "SyntaxError: invalid syntax",
    "from runs.agents import Robot": "ImportError: cannot import name 'Robot'",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_module_of_agents_that_cannot_be_imported_is_named_and_nothing_is_started(
    up: Callable[..., Up], tmp_path: Path, text: str
) -> None:
    (tmp_path / "front_desk.py").write_text(text)
    refused = up(AGENT_MODULES="tests.cast.agents,front_desk", PYTHONPATH=str(tmp_path))
    assert refused.process.wait(SLOW) == 1
    assert len(refused.said.strip().splitlines()) == 1
    assert f"AGENT_MODULES names front_desk, which has an error: {BROKEN[text]}" in refused.said
    assert f"front_desk.py, line {len(text.splitlines()) if 'TERMS' in text else 1})" in refused.said
    assert "tests.cast.agents" not in refused.said
    assert "Correct the module, or leave it out of AGENT_MODULES." in refused.said
    assert "PYTHONPATH" not in refused.said
    assert refused.said.strip().endswith("Nothing was started.")
    assert not refused.base.exists()


ODD = {
    "import sys\nsys.exit(0)": "SystemExit: 0 (",
    "import sys\nsys.exit('no licence')": "SystemExit: no licence (",
    "print('ready')\nraise ValueError('\\ud800')": "ValueError: \\ud800 (",
    "input()": "EOFError: EOF when reading a line (",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()": "",
    "import sys\nsys.stdout.buffer.write(bytes([255]))\nsys.stderr.buffer.write(bytes([255]))": "",
}


@pytest.mark.parametrize("text", ODD)
def test_a_module_that_ends_prints_asks_or_begins_a_thread_is_judged_by_whether_it_was_imported(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "odd_desk.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings.AGENT_MODULES = ["odd_desk"]
    told = agent_modules.trouble()
    assert told.startswith(f"AGENT_MODULES names odd_desk, which has an error: {ODD[text]}" if ODD[text] else "")
    assert bool(told) == bool(ODD[text]), told


def test_a_module_of_agents_may_need_the_applications(tmp_path: Path) -> None:
    (tmp_path / "needs_rows.py").write_text("from runs.models import Run")
    command = [sys.executable, "-m", "config.agent_modules", "needs_rows"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, ""), told.stderr


def test_the_doctor_says_the_same_of_a_module_that_is_not_there(settings: Any) -> None:
    settings.AGENT_MODULES = ["tests.cast.agents"]
    assert doctor.modules() == "tests.cast.agents"
    settings.AGENT_MODULES = ["tests.cast.agents", "nowhere.to_be_found"]
    with pytest.raises(doctor.Wrong, match=r"names nowhere.to_be_found, which cannot be imported: ModuleNotFoundError"):
        doctor.modules()


def test_three_failed_starts_stop_everything_with_a_line(up: Callable[..., Up]) -> None:
    running = up("--with", "tests.faults.quitter")
    assert running.process.wait(SLOW) == 1
    assert "quitter ended 3 times" in running.said
    assert "Traceback" not in running.said
    assert running.left() == []


def test_a_second_one_on_the_same_folder_is_refused(up: Callable[..., Up]) -> None:
    first = up()
    assert wait_for(lambda: postgres_is_ready(first), within=SLOW), first.said
    assert wait_for(first.answers, within=SLOW), first.said
    second = up(port=first.port)
    assert second.process.wait(SLOW) == 1
    assert f"already running from {first.base} (process {first.process.pid})" in second.said
    assert len(second.said.strip().splitlines()) == 1
    assert first.process.poll() is None
    assert first.child("postgres", str(first.base))
