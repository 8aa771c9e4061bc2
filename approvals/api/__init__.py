"""The HTTP API of asking: requests and their answers, rules, escalation policies, stand-ins."""

from ninja import Router

from approvals.api import requests

router = Router()
router.add_router("", requests.router)
