"""Where in its authors' own code a module of agents went wrong, told to whoever has to mend it."""

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent
OURS = tuple(f"{HOUSE / name}/" for name in ("config", "runs", "approvals", "tenants"))
PYTHON = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib"))
MENDED = "Correct the module or its name in AGENT_MODULES, and see that it lies on PYTHONPATH."


def told(module: str, error: BaseException) -> str:
    """One line for `module`, whose import raised `error`: which module, why, and the authors' file and line."""
    why, *_more = traceback.format_exception_only(error)[-1].strip().splitlines()
    return f"AGENT_MODULES names {module}, which cannot be imported: {why.removesuffix('.')}{_at(module, error)}."


def _at(module: str, error: BaseException) -> str:
    """Empty where nothing of the authors' was reached, since the module itself was not found."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    places = list(_places(module, error))
    return f" ({places[-1][0]}, line {places[-1][1]})" if places else ""


def _places(module: str, error: BaseException) -> Iterator[tuple[str, int]]:
    """What the authors wrote: neither Vermilion nor a library is, unless the module itself is installed as one."""
    package = module.partition(".")[0]
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if name.startswith(("<", *OURS)):
            continue
        if not name.startswith(PYTHON) or str(frame.f_globals.get("__name__")).partition(".")[0] == package:
            yield name, line
