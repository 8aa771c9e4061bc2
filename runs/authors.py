"""Where in its authors' own code a module of agents went wrong, told to whoever has to mend it."""

import re
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

HOUSE = Path(__file__).resolve().parent.parent
OURS = tuple(f"{HOUSE / name}/" for name in ("config", "runs", "approvals", "tenants"))
PYTHON = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib"))
DECLARED: Mapping[str, str] = {"tool": "@tool(…)", "Agent": "Agent(…)"}
ABSENT = "which cannot be imported"
"""Said of a module that was not found; one that was found has an error of its own."""
_ABSENT = "Correct its name in AGENT_MODULES, and see that it lies on PYTHONPATH."
_FOUND = "Correct the module, or leave it out of AGENT_MODULES."
_LACKING = re.compile(r"(\w+)(?:\.__init__)?\(\) missing \d+ required (?:keyword-only|positional) arguments?: (.+)")


def told(module: str, error: BaseException) -> str:
    """One line for `module`, whose import raised `error`: which module, why, and the authors' file and line."""
    how = ABSENT if _is_absent(module, error) else "which has an error"
    return f"AGENT_MODULES names {module}, {how}: {_why(error).removesuffix('.')}{_at(module, error)}."


def mended(said: str) -> str:
    """What to do about what `told` said, of one module or of several."""
    return " ".join([_FOUND] * (ABSENT not in said or "which has an error" in said) + [_ABSENT] * (ABSENT in said))


def _is_absent(module: str, error: BaseException) -> bool:
    """Whether the module itself was not found, and not what it imports."""
    return isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")


def _why(error: BaseException) -> str:
    """The error in a line; of a declaration that leaves something out, what it lacks."""
    why, *_more = traceback.format_exception_only(error)[-1].strip().splitlines()
    lacking = _LACKING.search(why) if isinstance(error, TypeError) else None
    if not lacking or lacking[1] not in DECLARED:
        return why
    names = re.findall(r"'(\w+)'", lacking[2])
    return f"{DECLARED[lacking[1]]} lacks {', '.join(f'{name}=' for name in names)}, which each has to give"


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
