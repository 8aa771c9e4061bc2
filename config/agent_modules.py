"""Whether every module of AGENT_MODULES can be imported, asked of a process of its own before anything is started.

An import runs what the module's author wrote; it leaves nothing behind in the process that asks.
"""

import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

import django
from django.conf import settings

WITHIN = 60.0  # Seconds; a module that takes longer would hold up every worker.
MOST = 5  # Lines that are told: a module each.
WHOLE = "--with-applications"
MENDED = "Correct the module or its name in AGENT_MODULES, and see that it lies on PYTHONPATH."


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
        return f"AGENT_MODULES could not be imported within {WITHIN:.0f} s. {MENDED}"
    if told.returncode == 0:
        return ""
    said = (told.stdout if told.returncode == 1 else told.stderr).strip() or f"it ended with {told.returncode}"
    return f"{' '.join(said.splitlines()[-MOST:])} {MENDED}"


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
        last = traceback.format_exception_only(error)[-1].strip()
        return f"AGENT_MODULES names {name}, which cannot be imported: {last}{_at(error)}."
    return ""


def _at(error: BaseException) -> str:
    """Where in the authors' own code it failed; empty where the module itself was not found."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not _is_machinery(each.filename)]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _is_machinery(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<") or filename.endswith("importlib/__init__.py")


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
