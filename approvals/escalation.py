"""The sweep of deadlines and levels: due ids without a lock, each then alone, under its own."""

import logging
from uuid import UUID

from approvals import clock, ladder, requests
from approvals.models import ApprovalRequest
from approvals.reviewers import asking, roster
from tenants import doors, locks
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
        subject = ApprovalRequest.objects.filter(pk=request_id).values_list("subject", flat=True).first()
        if subject is None:
            return
        locks.hold(subject)
        request = ApprovalRequest.objects.get(pk=request_id)
        now = clock.now()
        if request.status != "pending":
            return
        if now >= request.deadline:
            requests.lapse(request, now=now)
        else:
            ladder.climb(request, roster(now=now), asking(request), now=now)
