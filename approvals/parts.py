"""Which parts of a request are its own, and which it shares with others; pure."""

from collections.abc import Mapping
from typing import Any

_TOLD = ("values", "error")
"""What a rule's trace says of the one call it was judged on; the rest is the rule's."""


def parted(requirement: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any] | None]:
    """What `Requirement.as_json` wrote, as the form that other requests share and this one's own part.

    The own part has `[values, error]` for each trace; it is None where all are empty.
    """
    told = [[trace[name] for name in _TOLD] for trace in requirement["trace"]]
    traces = [{**trace, "values": [], "error": ""} for trace in requirement["trace"]]
    return {**requirement, "trace": traces}, told if any(any(each) for each in told) else None


def joined(form: Mapping[str, Any], own: list[Any] | None) -> dict[str, Any]:
    """What `parted` took apart."""
    if own is None:
        return dict(form)
    traces = [{**trace, **dict(zip(_TOLD, told, strict=True))} for trace, told in zip(form["trace"], own, strict=True)]
    return {**form, "trace": traces}


def own_run(run: Mapping[str, Any], *, subject: str, ref: str, agent: str) -> dict[str, Any]:
    """What is said of the run beyond what the request's other columns say."""
    known = _known(subject=subject, ref=ref, agent=agent)
    return {name: value for name, value in run.items() if name not in known or value != known[name]}


def run_of(own: Mapping[str, Any], *, subject: str, ref: str, agent: str) -> dict[str, Any]:
    """The run as rules and pages read it: `own_run` with what the other columns say."""
    return {**_known(subject=subject, ref=ref, agent=agent), **own}


def _known(*, subject: str, ref: str, agent: str) -> dict[str, Any]:
    kind, _colon, key = subject.partition(":")
    if kind != "run":
        return {}
    return {"id": key, "title": "", "agent": agent, **({"step": int(ref)} if ref.isdecimal() else {})}
