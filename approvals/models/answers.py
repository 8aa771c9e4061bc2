"""What people answered, saw and said, and who was asked when and because of what."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from approvals.models.requests import ApprovalRequest
from tenants.fields import ActorField
from tenants.models import Member, TenantModel


class Review(TenantModel):
    """One person's answer to one version. It is only ever added; the person's last one to a version counts."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="reviews", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    in_place_of = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    version = models.IntegerField()
    decision = models.CharField(max_length=16)
    comment = models.TextField(blank=True)
    response = models.TextField(blank=True)
    channel = models.CharField(max_length=16)
    actor = ActorField()
    at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "request", "version", "member", "decision"], name="one_answer_of_a_kind"
            ),
        ]


class Asked(TenantModel):
    """The record that a member was asked at a level, because of what, from when until when."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="asked", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    level = models.IntegerField()
    because = models.TextField()
    since = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # It is found by its request or its member; nothing refers to its id.
            models.UniqueConstraint(
                fields=["tenant", "request", "member"],
                condition=models.Q(until__isnull=True),
                name="asked_once_at_a_time",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # A member is of one tenant, so the key need not begin with it.
            models.Index(
                fields=["member", "since"], condition=models.Q(until__isnull=True), name="asked_now_of_member"
            ),
        ]


class Reassignment(TenantModel):
    """An exception to who may answer: `before` no longer may, `after` may in that place."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="reassignments", db_constraint=False)
    before = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    after = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    comment = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())


class Viewing(TenantModel):
    """That a member had the request open and visible, since when and last when."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="viewings", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    version = models.IntegerField()
    since = models.DateTimeField(db_default=Now())
    last = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request", "member"], name="one_viewing_a_member"),
        ]


class RequestComment(TenantModel):
    """What a person said beside the question; the reviewers read it, the agent does not."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="comments", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    actor = ActorField()
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())
