"""Starting a process that never outlives us."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

NOBODY = 65534
TIED = Path(__file__).with_name("tied.py")
_DAC_OVERRIDE = 1


def must_step_down() -> bool:
    """Whether we are root: PostgreSQL refuses to be, so it runs as nobody."""
    return sys.platform == "linux" and os.geteuid() == 0


def start(
    command: Sequence[str | Path],
    *,
    on_parent_death: signal.Signals,
    step_down: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """A child in a session of its own, so that a terminal's Ctrl-C reaches only us.

    Linux sends it `on_parent_death` when the calling thread ends: call this from the main thread.
    """
    words = [str(word) for word in command]
    full = (_stepped_down if step_down and must_step_down() else _tied)(words, on_parent_death)
    return subprocess.Popen(
        full, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )


def _tied(command: list[str], death: signal.Signals) -> list[str]:
    return [sys.executable, "-I", "-S", str(TIED), str(int(death)), str(os.getpid()), "--", *command]


def _stepped_down(command: list[str], death: signal.Signals) -> list[str]:
    """As nobody, by setpriv: the parent-death signal would not survive the change of user otherwise.

    The one capability kept lets it reach a clone below a closed home, whose mode stays as it is.
    """
    program = shutil.which("setpriv") or "setpriv"
    kept = "-all,+dac_override" if _has_capability(_DAC_OVERRIDE) else "-all"
    return [
        program,
        *(f"--pdeathsig={death.name.removeprefix('SIG')}", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
        *(f"--inh-caps={kept}", f"--ambient-caps={kept}", f"--bounding-set={kept}", "--"),
        *command,
    ]


def _has_capability(number: int) -> bool:
    status = Path("/proc/self/status").read_text().splitlines()
    effective = next((line.split()[1] for line in status if line.startswith("CapEff:")), "0")
    return bool(int(effective, 16) >> number & 1)


def stop(child: subprocess.Popen[bytes], how: signal.Signals, *, within: float) -> None:
    """Ask `child` to end and wait; what is still there after `within` seconds is killed."""
    if child.poll() is None:
        child.send_signal(how)
    try:
        child.wait(within)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
