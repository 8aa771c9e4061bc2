"""Whether every module of AGENT_MODULES can be imported, asked of a process of its own before anything is started.

An import runs what the module's author wrote; it leaves nothing behind in the process that asks.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

import django
from django.conf import settings

from runs import authors

WITHIN = 60.0  # Seconds; a module that takes longer would hold up every worker.
MOST = 5  # Lines that are told: a module each.
WHOLE = "--with-applications"


def trouble() -> str:
    """Each module that cannot be imported with its error and what to do, in one line; empty where all can be."""
    if not settings.AGENT_MODULES:
        return ""
    command = [sys.executable, "-m", "config.agent_modules", *settings.AGENT_MODULES]
    try:
        told = subprocess.run(
            command,
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"AGENT_MODULES could not be imported within {WITHIN:.0f} s. {authors.mended('')}"
    if told.returncode == 0:
        return ""
    said = (told.stdout if told.returncode == 1 else told.stderr).strip() or f"it ended with {told.returncode}"
    return f"{' '.join(said.splitlines()[-MOST:])} {authors.mended(said)}"


def broken(modules: Sequence[str]) -> list[str]:
    """A sentence for each of the modules that cannot be imported here: which, why, where."""
    return [why for name in modules if (why := _import(name))]


def _import(name: str) -> str:
    try:
        with redirect_stdout(sys.stderr):  # What it prints is not what is told of it.
            import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # One that ends the process would end every worker.
        return authors.told(name, error)
    return ""


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    names = [word for word in sys.argv[1:] if word != WHOLE]
    if WHOLE in sys.argv:
        django.setup()
    found = broken(names)
    if found and WHOLE not in sys.argv:
        # Only a module that needs the applications waits two seconds for them; all begins anew, in a fresh process.
        command = [sys.executable, "-m", "config.agent_modules", WHOLE, *names]
        os.execv(command[0], command)  # noqa: S606  # Nothing here is for a shell.
    sys.stdout.buffer.write("\n".join(found).encode(errors="backslashreplace"))
    sys.stdout.flush()
    os._exit(1 if found else 0)  # A module may have begun a thread, which would be waited for without end.
