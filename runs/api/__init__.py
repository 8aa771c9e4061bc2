"""The HTTP API of runs: `router` is added to the frame in `config.api`."""

from runs.api import acting, events, exporting, programs, proving, reading
from runs.api.routing import router

__all__ = ["acting", "events", "exporting", "programs", "proving", "reading", "router"]
