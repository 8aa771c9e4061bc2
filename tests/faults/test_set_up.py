"""`make set-up`: an environment that is whole or made again, in whatever folder, and one line where it cannot be."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "django.py": "",
    "django-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: django\nVersion: 0.1\n",
    "django-0.1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that is set up like ours, with one small package in its lock, which no index is asked for."""
    wheel = tmp_path / "django-0.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for name, text in SMALL.items():
            file.writestr(name, text)
        rows = "".join(f"{name},,\n" for name in (*SMALL, "django-0.1.dist-info/RECORD"))
        file.writestr("django-0.1.dist-info/RECORD", rows)
    folder = tmp_path / "a clone of 朱批"
    (folder / "config").mkdir(parents=True)
    shutil.copy(ROOT / "config/set_up.py", folder / "config")
    shutil.copy(ROOT / "Makefile", folder)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (folder / lock).write_text(f"django @ {wheel.as_uri()} --hash=sha256:{digest}\n")
    return folder


def start(clone: Path, **env: str) -> subprocess.Popen[str]:
    words = ["make", "-C", str(clone), "set-up", f"PYTHON={sys.executable}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(words, env=os.environ | env, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


def set_up(clone: Path, **env: str) -> str:
    """What it said; it must have worked, and left an environment that has the package."""
    process = start(clone, **env)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    subprocess.run([clone / ".venv/bin/python", "-c", "import django"], check=True)
    return said


def test_it_is_made_once_and_made_again_where_the_folder_moved(clone: Path) -> None:
    assert "Making .venv" in set_up(clone)
    again = set_up(clone)
    assert "Making" not in again
    assert "Installing" not in again
    (clone / "requirements.lock").write_text((clone / "requirements.lock").read_text() + "# another\n")
    assert "Making .venv" not in (said := set_up(clone))
    assert "Installing the packages" in said
    moved = clone.rename(clone.with_name("another place"))
    assert "Making .venv" in set_up(moved)


def test_one_that_was_killed_is_made_again(clone: Path) -> None:
    process = start(clone)
    deadline = time.monotonic() + 60
    while not (clone / ".venv/bin/python").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (clone / ".venv/made-from").exists()
    assert "Making .venv" in set_up(clone)


def test_where_no_faster_installer_can_be_had_pip_installs(clone: Path) -> None:
    set_up(clone, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(clone))
    assert not (clone / ".venv/bin/uv").exists()


def test_a_package_that_is_not_the_locked_one_is_refused_and_the_next_try_works(clone: Path) -> None:
    lock = clone / "requirements.lock"
    right = lock.read_text()
    lock.write_text(right[:-65] + "0" * 64 + "\n")
    process = start(clone)
    said, _ = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "Installing the packages failed; the lines above say why." in said
    lock.write_text(right)
    set_up(clone)


@pytest.mark.parametrize("told", [{}, {"UV_SYSTEM_CERTS": "0"}, {"UV_NATIVE_TLS": "0"}])
def test_the_installer_believes_whom_the_machine_believes_unless_it_is_told_otherwise(told: dict[str, str]) -> None:
    show = (
        "import json, set_up; set_up.has_certificates = lambda: True;"
        "print(json.dumps({k: v for k, v in set_up.trusting().items() if k in ('UV_SYSTEM_CERTS', 'UV_NATIVE_TLS')}))"
    )
    env = {k: v for k, v in os.environ.items() if k not in ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS")} | told
    said = subprocess.check_output([sys.executable, "-c", show], cwd=ROOT / "config", env=env, text=True)
    assert json.loads(said) == (told or {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"})


def test_a_missing_python_is_said_in_one_line(clone: Path) -> None:
    words = ["make", "-C", str(clone), "set-up", "PYTHON=/nowhere/python3"]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode != 0
    assert "There is no /nowhere/python3 on this machine." in told.stderr
    assert not (clone / ".venv").exists()
