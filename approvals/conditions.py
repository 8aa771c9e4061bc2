"""The fence around CEL: what a rule's condition may be, and an answer that is True, False, or not to be had.

The library compiles anything that parses, has no time limit and turns large numbers into doubles. So a
condition is bounded before it is compiled, numbers that would be rounded make it not evaluable, and its
result must be a boolean.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import cel
from django.utils.translation import gettext as _

from approvals import misreadings

VARIABLES = frozenset({"args", "run", "agent", "tool", "initiator", "labels", "risk", "now"})
FUNCTIONS = frozenset(
    {"size", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string", "bool", "bytes"}
    | {"timestamp", "duration", "type", "dyn", "minor", "has"}
    | {"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"}
    | {"getHours", "getMinutes", "getSeconds", "getMilliseconds"}
)
MAX_LENGTH = 1000
MAX_OPERATORS = 500
MAX_NESTING = 32
MAX_MACROS = 2
MAX_PLUS_BESIDE_MACROS = 4
MAX_ITEMS = 100
MAX_TEXT = 100_000
MAX_TEXT_BESIDE_MACROS = 10_000

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
_OPERATOR = re.compile(r"&&|\|\||[<>=!]=|[-+*/%<>!?:.,]|\bin\b")
_MACRO = re.compile(r"\.\s*(?:all|exists|exists_one|existsOne|map|filter|transform\w+)\s*\(\s*([A-Za-z_]\w*)?")
_ODD_STRING = re.compile(r"""\"{3}|'{3}|(?<![\w"'])[rRbB]{1,2}["']""")
_TYPES = frozenset({"int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type"})
_PATH = re.compile(r"\b(?:args|run|agent|tool|initiator|labels|risk)(?:\.[A-Za-z_]\w*)*")
_INT64 = range(-(2**63), 2**63)


class BadCondition(ValueError):
    """The text is no condition; the message is a sentence for the person who wrote it."""


class NotEvaluable(Exception):
    """The condition has no answer for this call; the message says why."""


def check(source: str) -> None:
    """Refuse a condition that is too large, does not parse, or names what it may not. Raises BadCondition."""
    _compiled(source)


def holds(source: str, values: Mapping[str, Any]) -> bool:
    """Whether `source` is true of `values` (the names in VARIABLES). Raises NotEvaluable, never anything else."""
    try:
        program, used = _compiled(source)
    except BadCondition as error:
        raise NotEvaluable(str(error)) from error
    macros = bool(_MACRO.search(_bare(source)))
    context = cel.Context({name: _plain(values.get(name), path=name, macros=macros) for name in used})
    context.add_function("minor", minor)
    try:
        result = program.execute(context)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise NotEvaluable(_why(error, source, values)) from error
    if result is not True and result is not False:
        raise NotEvaluable(f"The condition gave {result!r:.60}, which is neither true nor false.")
    return result


def paths(source: str) -> list[str]:
    """The names a condition reads, as written (`args.amount`), each once; for the trace, not for judging."""
    return list(dict.fromkeys(_PATH.findall(_bare(source))))


def minor(amount: Any) -> int:
    """An amount in minor units, exactly: `minor(12.5)` is 1250. More than two decimal places is an error."""
    if isinstance(amount, bool) or not isinstance(amount, int | float | Decimal):
        raise ValueError("minor() takes a number.")
    exact = (amount if isinstance(amount, Decimal) else Decimal(repr(amount))) * 100
    if not exact.is_finite() or exact != exact.to_integral_value():
        raise ValueError("minor() takes an amount of at most two decimal places.")
    if int(exact) not in _INT64:
        raise ValueError("minor() takes amounts up to 64 bits.")
    return int(exact)


@lru_cache(maxsize=2048)
def _compiled(source: str) -> tuple[Any, frozenset[str]]:
    _bounds(source)
    try:
        program = cel.compile(source)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise BadCondition(misreadings.told(source, str(error))) from error
    own = set(_MACRO.findall(_bare(source)))
    used = frozenset(program.variables()) - own - _TYPES
    if unknown := used - VARIABLES:
        names = {"names": _listed(unknown), "known": _listed(VARIABLES)}
        raise BadCondition(_("The condition names %(names)s. It may name %(known)s.") % names)
    called = {name for name in program.functions() if re.match(r"[A-Za-z]\w*$", name)}
    if unknown := frozenset(called - FUNCTIONS):
        raise BadCondition(
            _("The condition calls %(names)s, which no condition may call.") % {"names": _listed(unknown)}
        )
    return program, used


def _bounds(source: str) -> None:
    """Everything that must hold before the library sees the text: it can be crashed by a long chain."""
    if not source.strip():
        raise BadCondition(_("The condition is empty. Leave it out where every call is meant."))
    if len(source) > MAX_LENGTH:
        numbers = {"n": len(source), "most": MAX_LENGTH}
        raise BadCondition(_("The condition has %(n)s characters; at most %(most)s are allowed.") % numbers)
    if _ODD_STRING.search(source):
        raise BadCondition(_("The condition uses a raw, byte or triple-quoted string. Use plain quotes."))
    if "\x00" in source or "//" in _bare(source):
        raise BadCondition(_("The condition holds a comment or a NUL character. Take it out."))
    bare = _bare(source)
    if len(_OPERATOR.findall(bare)) > MAX_OPERATORS:
        raise BadCondition(_("The condition has more than %(most)s operators.") % {"most": MAX_OPERATORS})
    if _deepest(bare) > MAX_NESTING:
        raise BadCondition(_("The condition is nested deeper than %(most)s brackets.") % {"most": MAX_NESTING})
    macros = len(_MACRO.findall(bare))
    if macros > MAX_MACROS:
        numbers = {"n": macros, "most": MAX_MACROS}
        raise BadCondition(_("The condition walks through lists %(n)s times; at most %(most)s are allowed.") % numbers)
    if macros and bare.count("+") > MAX_PLUS_BESIDE_MACROS:
        raise BadCondition(_("The condition adds too often while it walks through a list."))


def _bare(source: str) -> str:
    """`source` with its string literals emptied, so that their text is not counted as operators."""
    return STRING.sub('""', source)


def _deepest(bare: str) -> int:
    depth = deepest = 0
    for char in bare:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _plain(value: Any, *, path: str, macros: bool) -> Any:
    """`value` as the library can hold it without loss. Raises NotEvaluable naming the place."""
    if isinstance(value, bool) or value is None or isinstance(value, datetime):
        return value
    if isinstance(value, int | float | Decimal):
        return _number(value, path=path)
    if isinstance(value, str):
        return _text(value, path=path, macros=macros)
    if isinstance(value, Mapping | list | tuple):
        if len(value) > MAX_ITEMS:
            raise NotEvaluable(f"{path} has {len(value)} items; a condition reads at most {MAX_ITEMS}.")
        if isinstance(value, Mapping):
            return {str(k): _plain(v, path=f"{path}.{k}", macros=macros) for k, v in value.items()}
        return [_plain(v, path=f"{path}[{i}]", macros=macros) for i, v in enumerate(value)]
    raise NotEvaluable(f"{path} is of a kind that a condition cannot read.")


def _number(value: int | float | Decimal, *, path: str) -> int | float:
    if isinstance(value, int) and value in _INT64:
        return value
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    exact = value if isinstance(value, Decimal) else Decimal(value if isinstance(value, int) else repr(value))
    if not exact.is_finite() or double in (float("inf"), float("-inf")) or Decimal(repr(double)) != exact:
        raise NotEvaluable(f"{path} is {exact:f}, a number that a condition cannot hold exactly.")
    return double


def _text(value: str, *, path: str, macros: bool) -> str:
    limit = MAX_TEXT_BESIDE_MACROS if macros else MAX_TEXT
    if len(value) > limit:
        raise NotEvaluable(f"{path} has {len(value)} characters; this condition reads at most {limit}.")
    return value


def _why(error: BaseException, source: str, values: Mapping[str, Any]) -> str:
    if isinstance(error, KeyError):
        return f"The condition reads {error.args[0]!s}, which this call does not have."
    if str(error).startswith("No such overload"):
        kinds = [f"{path} is {_kind(_at(values, path))}" for path in paths(source)]
        return " ".join(
            ["It compares or computes what does not go together.", *(["; ".join(kinds) + "."] if kinds else [])]
        )
    return f"The condition failed: {_first_line(error).partition('. ')[0].rstrip('.')}."


def _at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {str: "a text", datetime: "a time", list: "a list", tuple: "a list", int: "a number", float: "a number"}
    kinds |= {Decimal: "a number", dict: "an object"}
    return kinds.get(type(value), "nothing" if value is None else "of another kind")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
