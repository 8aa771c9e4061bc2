"""The sweep of deadlines and levels: due ids without a lock, each then alone, under its own."""

import logging
from uuid import UUID

from approvals import hands, ladder, requests
from tenants import doors
from tenants.scope import scope

logger = logging.getLogger(__name__)
BATCH = 200


def sweep(limit: int = BATCH) -> int:
    """Handle what is due now, at most `limit` requests; how many there were. One that fails hinders no other."""
    due = doors.due("requests", limit)
    for tenant, request_id in due:
        try:
            handle(tenant, request_id)
        except Exception:
            logger.exception("Request %s could not be looked at; the next sweep tries again.", request_id)
    return len(due)


def handle(tenant: UUID, request_id: UUID) -> None:
    """Look at one request: end it if its deadline has come, else climb as far as is due."""
    with scope(tenant):
        hand = hands.take(request_id)
        if hand is None or hand.request.status != "pending":
            return
        if hand.now >= hand.request.deadline:
            requests.lapse(hand)
        else:
            ladder.climb(hand.request, hand.people, hand.ask)
