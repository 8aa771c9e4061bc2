"""What is to be told to whom, and whether it was."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from approvals.models.channels import Channel
from approvals.models.requests import ApprovalRequest
from tenants.models import Member, TenantModel


class Delivery(TenantModel):
    """One notification to one address by one transport; a claim lapses at `claimed_until`.

    A webhook's names the event it tells by `subject` and `seq`, one about an unknown outcome its step; `bundled` ones
    of a member leave together in a digest; `origin` is the delivery that this one sends again.
    """

    request = models.ForeignKey(
        ApprovalRequest, models.CASCADE, null=True, related_name="deliveries", db_constraint=False
    )
    member = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    channel = models.ForeignKey(Channel, models.PROTECT, null=True, related_name="deliveries", db_constraint=False)
    kind = models.CharField(max_length=32)
    key = models.TextField()
    transport = models.CharField(max_length=16, default="email")
    address = models.TextField()
    status = models.CharField(max_length=16, default="pending")
    attempts = models.IntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    subject = models.CharField(max_length=100, blank=True, db_default="")
    seq = models.BigIntegerField(null=True)
    bundled = models.BooleanField(default=False, db_default=False)
    origin = models.UUIDField(null=True)

    class Meta(TenantModel.Meta):
        verbose_name_plural = "deliveries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "key", "transport", "address"], name="told_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["channel", "due_at"],
                condition=models.Q(status__in=("pending", "sending")),
                name="deliveries_due_by_way",
            ),
            models.Index(fields=["tenant", "-created_at", "-id"], name="deliveries_in_time"),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                condition=models.Q(status__in=("given_up", "pending", "sending")),
                name="deliveries_not_sent",
            ),
            models.Index(
                fields=["tenant", "channel", "-created_at", "-id"],
                condition=models.Q(channel__isnull=False),
                name="deliveries_of_a_channel",
            ),
            models.Index(fields=["tenant", "subject"], condition=~models.Q(subject=""), name="deliveries_of_a_subject"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(request=None, status__in=("sent", "given_up")),
                name="deliveries_to_forget",
            ),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status="given_up", attempts__gt=0),
                name="deliveries_tried_in_vain",
            ),
        ]
