"""The tables of asking."""

from approvals.models.absences import Delegation
from approvals.models.answers import Asked, Reassignment, RequestComment, Review, Viewing
from approvals.models.calendars import Calendar
from approvals.models.channels import WEBHOOK, CallbackSeen, Channel, ChannelPerson, NoticeWish
from approvals.models.notices import Delivery
from approvals.models.requests import FROZEN, ApprovalRequest, RequestVersion
from approvals.models.rotations import Rotation, RotationMember, RotationOverride
from approvals.models.rules import EscalationPolicy, PolicyRule, PolicyVersion
from approvals.models.wordings import Wording

__all__ = [
    "FROZEN",
    "WEBHOOK",
    "ApprovalRequest",
    "Asked",
    "Calendar",
    "CallbackSeen",
    "Channel",
    "ChannelPerson",
    "Delegation",
    "Delivery",
    "EscalationPolicy",
    "NoticeWish",
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
