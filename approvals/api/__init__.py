"""The HTTP API of asking: requests and their answers, rules, escalation policies, stand-ins."""

from ninja import Router

from approvals.api import exporting, people, policies, requests

router = Router()
router.add_router("", requests.router)
router.add_router("", exporting.router)
router.add_router("", policies.router)
router.add_router("", people.router)
