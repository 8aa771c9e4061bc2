"""The tables of asking: the question frozen as shown, its versions and answers, who was asked, and the rules."""

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
            models.Index(fields=["due_at"], condition=models.Q(status="pending"), name="request_due"),
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


class Review(TenantModel):
    """One person's answer to one version. It is only ever added; the person's last one to a version counts."""

    request = models.ForeignKey(ApprovalRequest, models.CASCADE, related_name="reviews", db_constraint=False)
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    in_place_of = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    version = models.PositiveIntegerField()
    decision = models.CharField(max_length=16)
    comment = models.TextField(blank=True)
    response = models.TextField(blank=True)
    channel = models.CharField(max_length=16)
    actor = ExactJSONField()
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
    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    level = models.PositiveIntegerField()
    because = models.TextField()
    since = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "request", "member"],
                condition=models.Q(until__isnull=True),
                name="asked_once_at_a_time",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["tenant", "member", "since"],
                condition=models.Q(until__isnull=True),
                name="asked_of_member",
            )
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
    version = models.PositiveIntegerField()
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
    actor = ExactJSONField()
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())


class PolicyRule(TenantModel):
    """A tenant's rule through all its versions; `live` is the number of the one that counts, if any."""

    name = models.TextField()
    position = models.IntegerField(default=0)
    is_default = models.BooleanField(default=False)
    live = models.PositiveIntegerField(null=True)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant"], condition=models.Q(is_default=True), name="one_default_rule"),
        ]

    def __str__(self) -> str:
        return self.name


class PolicyVersion(TenantModel):
    """One version of a rule, with its author; it never changes once written."""

    rule = models.ForeignKey(PolicyRule, models.CASCADE, related_name="versions", db_constraint=False)
    number = models.PositiveIntegerField()
    body = ExactJSONField()
    note = models.TextField(blank=True)
    author = ExactJSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "rule", "number"], name="one_rule_version_a_number"),
        ]


class EscalationPolicy(TenantModel):
    """Who is asked, in what order, after which delay: `levels` is [{after, groups, members}], after in seconds."""

    name = models.TextField()
    levels = ExactJSONField(default=list)
    repeats = models.PositiveIntegerField(default=0)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["tenant", "name"],
                condition=models.Q(archived_at__isnull=True),
                name="one_escalation_a_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Delegation(TenantModel):
    """A member's stand-in for a period."""

    member = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    stand_in = models.ForeignKey(Member, models.PROTECT, related_name="+", db_constraint=False)
    starts = models.DateTimeField()
    ends = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(condition=models.Q(ends__gt=models.F("starts")), name="delegation_has_time"),
            models.CheckConstraint(condition=~models.Q(member=models.F("stand_in")), name="delegation_to_another"),
        ]


class Delivery(TenantModel):
    """One notification to one address by one transport; a claim lapses at `claimed_until`."""

    request = models.ForeignKey(
        ApprovalRequest, models.CASCADE, null=True, related_name="deliveries", db_constraint=False
    )
    member = models.ForeignKey(Member, models.PROTECT, null=True, related_name="+", db_constraint=False)
    kind = models.CharField(max_length=32)
    key = models.TextField()
    transport = models.CharField(max_length=16, default="email")
    address = models.TextField()
    status = models.CharField(max_length=16, default="pending")
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        verbose_name_plural = "deliveries"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(status__in=states.names(states.DELIVERY)), name="delivery_status_known"
            ),
            models.UniqueConstraint(fields=["tenant", "key", "transport", "address"], name="told_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(status__in=("pending", "sending")),
                name="delivery_due",
            )
        ]
