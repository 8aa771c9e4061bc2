"""The HTTP API of runs: `router` is added to the frame in `config.api`."""

from ninja import Router

from runs.api.acting import router as acting
from runs.api.events import router as events
from runs.api.programs import router as programs
from runs.api.reading import router as reading

router = Router()
for each in (reading, events, acting, programs):
    router.add_router("", each)

__all__ = ["router"]
