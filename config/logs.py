"""One line an entry, in every process, with no secret in it."""

import logging.config
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

HIDDEN = "***"
_NAMED = r"(?:password|passwd|secret|token|api_?key|authorization|cookie|signature)"
MASKS = (
    (re.compile(r"\bvm_([A-Za-z0-9]+)_[A-Za-z0-9_-]+"), rf"vm_\1_{HIDDEN}"),  # our keys; their tenant stays
    (re.compile(r"\b(Bearer|Basic)\s+[^\s\"',]+", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]{8,}"), f"whsec_{HIDDEN}"),
    (re.compile(r"\b(sk|pk|rk|xox[a-z]|gh[a-z])[-_][A-Za-z0-9_-]{8,}"), rf"\1-{HIDDEN}"),
    (re.compile(r"(://[^\s:/@]+):[^\s/@]+@"), rf"\1:{HIDDEN}@"),
    (re.compile(rf"(\b[\w-]*{_NAMED}[\"']?\s*[=:]\s*[\"']?)(?!\*)[^\s\"',&}}]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    # A part of an address that is long and no digest: the token of a link or a callback.
    (re.compile(r"/(?![0-9a-f]+\b)[\w:.=~-]{40,}"), f"/{HIDDEN}"),
)


def mask(text: str) -> str:
    """`text` with what looks like a secret hidden: keys, passwords in URLs, signed links, named secrets."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


class Line:
    """Renders an entry for people: time, level, where, what, and the rest as key=value."""

    def __call__(self, _logger: Any, _method: str, entry: MutableMapping[str, Any]) -> str:
        when, level, name = (entry.pop(key, "") for key in ("timestamp", "level", "logger"))
        what, trace = entry.pop("event", ""), entry.pop("exception", "")
        rest = "".join(f" {key}={value!r}" for key, value in entry.items())
        return f"{when} {level.upper():<8}{name}: {what}{rest}" + (f"\n{trace}" if trace else "")


def _mask_line(_logger: Any, _method: str, line: str) -> str:
    return mask(line)


def configuration(*, level: str, form: str) -> dict[str, Any]:
    """Python's logging dictionary; `form` is `text` or `json`."""
    renderer = structlog.processors.JSONRenderer(ensure_ascii=False) if form == "json" else Line()
    before = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": before,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer, _mask_line],
            }
        },
        "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["lines"], "level": level},
        "loggers": {
            # Their own handlers would say everything twice, or unmasked.
            **{name: {"handlers": [], "propagate": True} for name in ("django", "django.server", "uvicorn")},
            "uvicorn.error": {"handlers": [], "propagate": True},
            # An address may hold the token of a link, so none is written down.
            "uvicorn.access": {"handlers": [], "propagate": False},
            # Each second's sweep is no news.
            **{
                f"celery.{name}": {"level": "WARNING"}
                for name in ("app.trace", "beat", "worker.request", "worker.strategy")
            },
            "httpx": {"level": "WARNING"},
        },
    }


def configure(configuration: dict[str, Any]) -> None:
    """For a process that Django does not set up."""
    logging.config.dictConfig(configuration)
