"""The question frozen as shown, and the versions of its arguments."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from approvals import parts
from approvals.models.wordings import Wording
from tenants.fields import ActorField, ExactJSONField, HexField
from tenants.models import Member, TenantModel


class RequestManager(models.Manager["ApprovalRequest"]):
    """Reads each request with the wordings it refers to, in one statement."""

    def get_queryset(self) -> "models.QuerySet[ApprovalRequest]":
        """All requests of the tenant in scope."""
        return super().get_queryset().select_related("worded", "demanded")


class ApprovalRequest(TenantModel):
    """The question put to people: one tool call, frozen as shown, with a version that grows when it is edited.

    `due_at` is when the sweep next looks at it; `next_at` what people order their list by: the next level or the
    end. `rung` counts the steps of the escalation's schedule that have been taken, repeats included. `short` is by
    how many too few people can answer at the last level. `asked_stamp` is the tenant's stamp at which its people
    were last looked through; where the tenant's has grown since, the sweep asks again.

    What many requests share lies in a `Wording`, read with the row; `wordings` writes both. The columns `own_…` hold
    what a request does not share, and in rows from before there were wordings the whole.
    """

    objects = RequestManager()

    subject = models.TextField()
    ref = models.TextField(blank=True)
    status = models.CharField(max_length=16, default="pending")
    version = models.IntegerField(default=1)
    round = models.IntegerField(default=0)
    escalation_level = models.IntegerField(default=0)
    rung = models.IntegerField(default=0)

    tool = models.TextField()
    tool_title = models.TextField(blank=True)
    agent = models.TextField()
    agent_version = models.TextField(blank=True)
    risk = models.CharField(max_length=16)
    effect = models.CharField(max_length=16)
    worded = models.ForeignObject(
        Wording,
        models.PROTECT,
        from_fields=["tenant", "definition_digest"],
        to_fields=["tenant", "digest"],
        related_name="+",
        null=True,
    )
    definition_digest = HexField(null=True)
    own_definition = ExactJSONField(null=True, db_column="definition")
    own_fingerprint = models.TextField(blank=True, db_column="fingerprint")
    proposed_arguments = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    initiators = ArrayField(models.UUIDField(), default=list)
    initiator = ActorField(default=dict)
    labels = ExactJSONField(default=dict)
    own_run = ExactJSONField(default=dict, db_column="run")
    evidence = models.TextField(null=True)  # noqa: DJ001  JSON text; "" is no JSON, None is "not read".
    evidence_error = models.TextField(blank=True)
    precondition = models.TextField(null=True)  # noqa: DJ001  As above.
    flags = ExactJSONField(default=list)
    precedents = ExactJSONField(default=dict)

    demanded = models.ForeignObject(
        Wording,
        models.PROTECT,
        from_fields=["tenant", "requirement_digest"],
        to_fields=["tenant", "digest"],
        related_name="+",
        null=True,
    )
    requirement_digest = HexField(null=True)
    own_requirement = ExactJSONField(null=True, db_column="requirement")
    supersedes = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="successors", db_constraint=False, db_index=False
    )
    difference = ExactJSONField(null=True)

    opened_at = models.DateTimeField(db_default=Now())
    deadline = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    short = models.IntegerField(default=0)
    asked_stamp = models.BigIntegerField(default=0)
    decided_at = models.DateTimeField(null=True)
    decided_by = ActorField(null=True)
    decision = models.CharField(max_length=16, blank=True)
    comment = models.TextField(blank=True)
    response = models.TextField(blank=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
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
                fields=["tenant", "next_at", "id"], condition=models.Q(status="pending"), name="request_waits_in_turn"
            ),
            # So that the purge finds which wordings are still referred to; equal keys take next to no room.
            models.Index(fields=["tenant", "definition_digest"], name="request_worded"),
            models.Index(fields=["tenant", "requirement_digest"], name="request_demanded"),
            models.Index(
                fields=["supersedes"], condition=models.Q(supersedes__isnull=False), name="request_that_supersedes"
            ),
            models.Index(
                fields=["tenant", "asked_stamp"], condition=models.Q(status="pending"), name="request_ask_again"
            ),
        ]

    @property
    def definition(self) -> dict[str, Any]:
        """The tool's definition as it was frozen."""
        return self.own_definition or (self.worded.body if self.worded else {})

    @property
    def fingerprint(self) -> str:
        """That of the frozen definition."""
        return self.own_fingerprint or str(self.definition.get("fingerprint", ""))

    @property
    def requirement(self) -> dict[str, Any]:
        """What the rules demand, as `Requirement.as_json` wrote it."""
        return parts.joined(self.demanded.body, self.own_requirement) if self.demanded else self.own_requirement

    @property
    def run(self) -> dict[str, Any]:
        """What rules and pages read of the run, as it was frozen."""
        return parts.run_of(self.own_run, subject=self.subject, ref=self.ref, agent=self.agent)

    def __str__(self) -> str:
        return f"{self.tool} ({self.status})"


FROZEN = (
    ("tenant_id", "subject", "ref", "tool", "tool_title", "agent", "agent_version", "risk", "effect", "definition")
    + (
        "definition_digest",
        "fingerprint",
        "proposed_arguments",
        "rationale",
        "initiators",
        "initiator",
        "labels",
        "run",
        "evidence",
    )
    + ("precondition", "supersedes_id", "difference", "opened_at", "round")
)
"""The columns that say what was asked; PostgreSQL refuses to change them."""


class RequestVersion(TenantModel):
    """One version of a request's arguments; the first is the agent's, every later one a person's edit."""

    request = models.ForeignKey(
        ApprovalRequest, models.CASCADE, related_name="versions", db_constraint=False, db_index=False
    )
    number = models.IntegerField()
    arguments = models.TextField()
    digest = models.CharField(max_length=64)
    title = models.TextField()
    edited_by = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    edited_fields = ArrayField(models.TextField(), default=list)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # It is found by its request and number; nothing refers to its id.
            models.UniqueConstraint(fields=["tenant", "request", "number"], name="one_version_a_number"),
        ]
