"""What is kept: events, the audit chain, and the answers a client may ask for again."""

from typing import ClassVar

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now

from tenants.fields import ActorField, Base64Field, ExactJSONField, HexField, SubjectField
from tenants.models.base import Tenant, TenantModel


class Event(models.Model):
    """One past-tense fact about a subject, such as `run:<id>`; written by the function `event_append` alone."""

    pk = models.CompositePrimaryKey("tenant_id", "subject", "seq")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    subject = SubjectField()
    seq = models.IntegerField()
    name = models.CharField(max_length=40)
    at = models.DateTimeField()
    actor = ActorField()
    message = models.TextField(blank=True)
    data = ExactJSONField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            BrinIndex(fields=["at"], name="events_in_time", autosummarize=True),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.seq} {self.name}"


class AuditEntry(models.Model):
    """Who did what to what, when; each entry chains the digest of the one before and of its own content."""

    pk = models.CompositePrimaryKey("tenant_id", "seq")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    seq = models.BigIntegerField()
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=200)
    action = models.CharField(max_length=60)
    target = SubjectField()
    refused = models.BooleanField(default=False)
    channel = models.CharField(max_length=20, blank=True)
    content_digest = HexField()
    previous = HexField()
    digest = HexField()
    signature = Base64Field()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "target", "seq"], name="audit_of_a_target"),
            models.Index(fields=["tenant", "actor_id", "seq"], name="audit_of_an_actor"),
            models.Index(fields=["tenant", "at"], name="audit_by_time"),
            # The few runs in which somebody settled an outcome: an index of the events would cost each of them.
            models.Index(fields=["tenant", "at"], name="audit_of_outcomes", condition=models.Q(action="run.settled")),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.action} {self.target}"


class AuditContent(models.Model):
    """What is personal in an entry: JSON with a salt, whose digest is chained. Blanked, the chain still holds."""

    pk = models.CompositePrimaryKey("tenant_id", "seq")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    seq = models.BigIntegerField()
    body = models.TextField(null=True)  # noqa: DJ001  # NULL is "blanked"; empty would be content.

    def __str__(self) -> str:
        return str(self.seq)


class AuditHead(models.Model):
    """The latest entry of a tenant's chain; the last row that a transaction locks."""

    tenant = models.OneToOneField(
        Tenant, on_delete=models.PROTECT, related_name="+", primary_key=True, db_constraint=False
    )
    seq = models.BigIntegerField()
    digest = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)

    def __str__(self) -> str:
        return str(self.seq)


class IdempotentAnswer(TenantModel):
    """The answer that a POST got under an Idempotency-Key; the body is encrypted, it may hold a new key."""

    actor = models.CharField(max_length=200)
    method = models.CharField(max_length=8)
    path = models.CharField(max_length=500)
    key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "actor", "method", "path", "key"], name="one_answer_a_key"),
        ]

    def __str__(self) -> str:
        return self.key
