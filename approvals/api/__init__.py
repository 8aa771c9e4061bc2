"""The HTTP API of asking: requests, answers, rules, escalation, stand-ins, working time, on call, ways out, notices."""

from ninja import Router

from approvals.api import (
    calendars,
    callbacks,
    channels,
    exporting,
    notices,
    people,
    policies,
    requests,
    rotations,
)

router = Router()
router.add_router("", requests.router)
router.add_router("", exporting.router)
router.add_router("", policies.router)
router.add_router("", people.router)
router.add_router("", calendars.router)
router.add_router("", rotations.router)
router.add_router("", channels.router)
router.add_router("", notices.router)
router.add_router("", callbacks.router)
