"""Ways out of the house: webhooks and chat channels, who a chat person is here, and what each member wishes to hear."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from tenants.fields import ExactJSONField
from tenants.models import Member, TenantModel

WEBHOOK = "webhook"


class Channel(TenantModel):
    """A webhook, or a channel of a chat service; `url` and the secrets are encrypted under FIELD_KEYS.

    A chat channel with a `member` is that person's own; one without is a room and hears `kinds` of notice, all that
    rooms can hear where it is null. `failures` counts in a row, since `failing_since`; `refused` counts the
    callbacks that were refused in the hour that began at `refused_since`.
    """

    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=100)
    member = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    url = models.TextField()
    shown_url = models.CharField(max_length=200)
    events = ArrayField(models.CharField(max_length=40), default=list)
    kinds = ArrayField(models.CharField(max_length=40), null=True)
    secret = models.TextField()
    former_secret = models.TextField(blank=True)
    former_until = models.DateTimeField(null=True)
    enabled = models.BooleanField(default=True)
    off_because = models.TextField(blank=True)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    refused = models.PositiveIntegerField(default=0, db_default=0)
    refused_since = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=~models.Q(kind=WEBHOOK) & models.Q(archived_at=None),
                name="one_channel_a_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ChannelPerson(TenantModel):
    """Who a person of the chat service is here: callbacks that name them act as this member."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="people", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "channel", "external_id"], name="one_member_a_chat_person"),
        ]


class CallbackSeen(TenantModel):
    """A callback's message id that was used: it is used once."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="+", db_constraint=False)
    message = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "channel", "message"], name="a_callback_counts_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["at"], name="callbacks_in_time")]


class NoticeWish(TenantModel):
    """How a member wishes to be told: `off` lists `kind:transport`, quiet hours count in the member's own zone."""

    member = models.ForeignKey(Member, models.CASCADE, related_name="+", db_constraint=False)
    off = ExactJSONField(default=list)
    digest = models.CharField(max_length=8, default="none")
    quiet_from = models.TimeField(null=True)
    quiet_until = models.TimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "member"], name="one_wish_a_member"),
            models.CheckConstraint(condition=models.Q(digest__in=("none", "hourly", "daily")), name="digest_known"),
            models.CheckConstraint(
                condition=models.Q(quiet_from=None, quiet_until=None)
                | models.Q(quiet_from__isnull=False, quiet_until__isnull=False),
                name="quiet_has_both_ends",
            ),
        ]
