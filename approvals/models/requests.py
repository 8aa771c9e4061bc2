"""The question frozen as shown, and the versions of its arguments."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from approvals import states
from tenants.fields import ExactJSONField
from tenants.models import Member, TenantModel


class ApprovalRequest(TenantModel):
    """The question put to people: one tool call, frozen as shown, with a version that grows when it is edited.

    `due_at` is when the sweep next looks at it; `next_at` what people order their list by: the next level or the
    end. `rung` counts the steps of the escalation's schedule that have been taken, repeats included. `short` is by
    how many too few people can answer at the last level. `asked_stamp` is the tenant's stamp at which its people
    were last looked through; where the tenant's has grown since, the sweep asks again.
    """

    subject = models.TextField()
    ref = models.TextField(blank=True)
    status = models.CharField(max_length=16, default="pending")
    version = models.PositiveIntegerField(default=1)
    round = models.PositiveIntegerField(default=0)
    escalation_level = models.PositiveIntegerField(default=0)
    rung = models.PositiveIntegerField(default=0)

    tool = models.TextField()
    tool_title = models.TextField(blank=True)
    agent = models.TextField()
    agent_version = models.TextField(blank=True)
    risk = models.CharField(max_length=16)
    effect = models.CharField(max_length=16)
    definition = ExactJSONField(default=dict)
    fingerprint = models.TextField(blank=True)
    proposed_arguments = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    initiators = ArrayField(models.UUIDField(), default=list)
    initiator = ExactJSONField(default=dict)
    labels = ExactJSONField(default=dict)
    run = ExactJSONField(default=dict)
    evidence = models.TextField(null=True)  # noqa: DJ001  JSON text; "" is no JSON, None is "not read".
    evidence_error = models.TextField(blank=True)
    precondition = models.TextField(null=True)  # noqa: DJ001  As above.
    flags = ExactJSONField(default=list)
    precedents = ExactJSONField(default=dict)

    requirement = ExactJSONField()
    supersedes = models.ForeignKey("self", models.PROTECT, null=True, related_name="successors", db_constraint=False)
    difference = ExactJSONField(null=True)

    opened_at = models.DateTimeField(db_default=Now())
    deadline = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    short = models.PositiveIntegerField(default=0)
    asked_stamp = models.BigIntegerField(default=0)
    decided_at = models.DateTimeField(null=True)
    decided_by = ExactJSONField(null=True)
    decision = models.CharField(max_length=16, blank=True)
    comment = models.TextField(blank=True)
    response = models.TextField(blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(status__in=states.names(states.REQUEST)), name="request_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(status="pending") | models.Q(decided_at__isnull=False),
                name="request_end_has_a_time",
            ),
            models.UniqueConstraint(
                fields=["tenant", "subject", "ref"],
                condition=models.Q(status="pending"),
                name="one_open_request_a_step",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["tenant", "status", "opened_at", "id"], name="request_list"),
            models.Index(fields=["tenant", "subject", "ref"], name="request_of_subject"),
            models.Index(fields=["tenant", "tool", "opened_at"], name="request_of_tool"),
            models.Index(fields=["tenant", "due_at"], condition=models.Q(status="pending"), name="request_due_in_turn"),
            models.Index(
                fields=["tenant", "asked_stamp"], condition=models.Q(status="pending"), name="request_ask_again"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool} ({self.status})"


FROZEN = (
    ("tenant_id", "subject", "ref", "tool", "tool_title", "agent", "agent_version", "risk", "effect", "definition")
    + ("fingerprint", "proposed_arguments", "rationale", "initiators", "initiator", "labels", "run", "evidence")
    + ("precondition", "supersedes_id", "difference", "opened_at", "round")
)
"""The columns that say what was asked; PostgreSQL refuses to change them."""


class RequestVersion(TenantModel):
    """One version of a request's arguments; the first is the agent's, every later one a person's edit."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    arguments = models.TextField()
    digest = models.CharField(max_length=64)
    title = models.TextField()
    edited_by = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    edited_fields = ArrayField(models.TextField(), default=list)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "request", "number"], name="one_version_a_number"),
        ]
