"""The tables of asking."""

from approvals.models.absences import Delegation
from approvals.models.answers import Asked, Reassignment, RequestComment, Review, Viewing
from approvals.models.calendars import Calendar
from approvals.models.notices import Delivery
from approvals.models.requests import FROZEN, ApprovalRequest, RequestVersion
from approvals.models.rotations import Rotation, RotationMember, RotationOverride
from approvals.models.rules import EscalationPolicy, PolicyRule, PolicyVersion
from approvals.models.wordings import Wording

__all__ = [
    "FROZEN",
    "ApprovalRequest",
    "Asked",
    "Calendar",
    "Delegation",
    "Delivery",
    "EscalationPolicy",
    "PolicyRule",
    "PolicyVersion",
    "Reassignment",
    "RequestComment",
    "RequestVersion",
    "Review",
    "Rotation",
    "RotationMember",
    "RotationOverride",
    "Viewing",
    "Wording",
]
