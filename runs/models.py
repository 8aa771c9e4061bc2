"""The rows of a run: narrow ones that change, wide ones that do not."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from runs.states import FINISHED
from tenants.fields import ActorField, ExactJSONField
from tenants.models import Tenant, TenantModel


class Run(TenantModel):
    """One execution of an agent; this row changes only when its status does."""

    agent = models.TextField()
    version = models.TextField()
    title = models.TextField(default="")
    status = models.TextField(default="queued")
    reason = models.TextField(default="")
    labels = ExactJSONField(default=dict)
    initiators = ArrayField(models.UUIDField(), default=list)
    """Member ids of the persons who may not decide: starter, key's owner, on_behalf_of, retriers."""
    started_by = ActorField()
    budget = ExactJSONField(default=dict)
    """What a person allowed beyond the agent's own budget: tokens, cost (as text), seconds.

    `retried_after` is what a retry writes; RunRecord says what for.
    """
    deadline = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    """When the sweep looks at this run: a parked one is queued, a queued one is announced again."""
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    unsettled = models.BooleanField(db_default=False)
    """Whether the outcome of one of its calls is unknown: what lists them looks here first."""
    compacted = models.BigIntegerField(db_default=0)
    """The number of the last completed compaction, from which the steps are read."""

    class Meta(TenantModel.Meta):
        indexes: ClassVar = [
            models.Index(fields=["tenant"], name="run_unsettled", condition=Q(unsettled=True)),
            models.Index(fields=["tenant", "created_at", "id"], name="run_newest"),
            models.Index(fields=["tenant", "due_at"], name="run_due", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["tenant", "deadline"],
                name="run_deadline",
                condition=Q(deadline__isnull=False) & ~Q(status__in=sorted(FINISHED)),
            ),
            models.Index(
                fields=["tenant", "status", "created_at"],
                name="run_standing",
                condition=~Q(status__in=sorted(FINISHED)),
            ),
        ]


class RunRow(TenantModel):
    """A row inside a run; its key begins with the tenant and the run, so that it needs no other index."""

    id = None  # type: ignore[assignment]
    tenant = models.ForeignKey(Tenant, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+")
    run = models.ForeignKey(Run, models.CASCADE, db_constraint=False, db_index=False, related_name="+")

    class Meta:
        abstract = True


class Lease(RunRow):
    """The right of one worker to advance a run until `until` (database clock); None: nobody holds it."""

    pk = models.CompositePrimaryKey("tenant_id", "run_id")
    fence = models.BigIntegerField(default=0)
    holder = models.TextField(default="")
    until = models.DateTimeField(null=True)
    since = models.DateTimeField(null=True)
    worked = models.FloatField(default=0.0)
    """Seconds of leases that ended; the budget of working time counts them."""
    crashes = models.IntegerField(default=0)
    """How often in a row a holder vanished at step `crash_seq`."""
    crash_seq = models.BigIntegerField(default=0)
    stopped = models.BooleanField(db_default=False)
    """Whether its run has left `running` since it was taken; kept by a trigger on the run."""
    halted = models.BooleanField(db_default=False)
    """Whether it was stopped, or a webhook hears of it: whoever does not ask for each of the two looks here."""
    heard = models.BooleanField(db_default=False)
    """Whether a webhook of the tenant was on since it was taken; kept by a trigger on the channels."""

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["tenant", "until"], name="lease_until", condition=Q(until__isnull=False))
        ]


class Step(RunRow):
    """One numbered, durable unit of a run. PostgreSQL keeps long texts out of the row by itself (TOAST).

    Its key is its only index, and nothing checks its reference to the run: both would cost every step (decision 0018).
    """

    pk = models.CompositePrimaryKey("tenant_id", "run_id", "seq")
    seq = models.BigIntegerField()
    kind = models.TextField()
    status = models.TextField()
    reason = models.TextField(default="")
    turn = models.BigIntegerField(default=0)
    """For a tool call: the number of the model turn that asked for it. For a compaction: how many turns were before."""
    tool = models.TextField(default="")
    effect = models.TextField(default="")
    call_id = models.TextField(default="")
    digest = models.TextField(default="")
    generation = models.IntegerField(default=0)
    attempts = models.IntegerField(default=0)
    spent = models.IntegerField(default=0)
    """How many of the attempts a retry or resume has forgiven; the bound counts those after them."""
    due_at = models.DateTimeField(null=True)
    proposed = models.TextField(null=True)  # noqa: DJ001  # NULL: there is none.
    """The model's own text of the arguments, kept for the context."""
    arguments = models.TextField(null=True)  # noqa: DJ001  # NULL: there is none.
    """The bound arguments as our writer wrote them: what is shown, hashed, edited and run."""
    rationale = models.TextField(null=True)  # noqa: DJ001  # NULL: there is none.
    result = models.TextField(null=True)  # noqa: DJ001  # NULL: there is none.
    """A turn's answer, a tool's result or what the model is told instead, a compaction's summary: as it came."""
    payloads = ExactJSONField(null=True)
    """Of the four texts, those that lie in storage whole: name → payload id."""
    unknown_since = models.DateTimeField(null=True)
    tokens_in = models.BigIntegerField(null=True)
    tokens_out = models.BigIntegerField(null=True)
    cost = models.DecimalField(null=True, max_digits=20, decimal_places=10)
    tokens_total = models.BigIntegerField(null=True)
    """What the run has used up to and with this turn; so no other row changes with each turn."""
    cost_total = models.DecimalField(null=True, max_digits=20, decimal_places=10)
    last_kind = models.TextField(null=True)  # noqa: DJ001  # NULL: no attempt lies here, as for those below.
    """The latest attempt, number `attempts`: most steps have no other, and it is opened and closed with its step."""
    last_fence = models.BigIntegerField(null=True)
    last_key = models.TextField(null=True)  # noqa: DJ001
    last_opened_at = models.DateTimeField(null=True)
    last_closed_at = models.DateTimeField(null=True)
    last_cause = models.TextField(null=True)  # noqa: DJ001
    last_message = models.TextField(null=True)  # noqa: DJ001
    last_not_done = models.BooleanField(null=True)
    last_next_at = models.DateTimeField(null=True)


class AnyAttempt(RunRow):
    """One try at a step."""

    pk = models.CompositePrimaryKey("tenant_id", "run_id", "seq", "number")
    seq = models.BigIntegerField()
    number = models.IntegerField()
    kind = models.TextField(default="call")
    fence = models.BigIntegerField()
    key = models.TextField(default="")
    opened_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    cause = models.TextField(default="")
    message = models.TextField(default="")
    not_done = models.BooleanField(null=True)
    """True: it is known that nothing left; False: it may have happened; None: it went well or is open."""
    next_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class FormerAttempt(AnyAttempt):
    """An attempt that another followed: the latest one lies in its step's row until then."""


class Attempt(AnyAttempt):
    """One try at a step: opened in the commit before the call, closed in the commit after it.

    A view of all of them, to be read alone: the latest of each step, and the former ones.
    """

    class Meta:
        managed = False
        db_table = "runs_attempt"


class Text(RunRow):
    """A further text as it came: of the run (`seq` 0: `input`, `result`) or of a step (`evidence`, `precondition`)."""

    pk = models.CompositePrimaryKey("tenant_id", "run_id", "seq", "name")
    seq = models.BigIntegerField()
    name = models.TextField()
    body = models.TextField()
    payload = models.UUIDField(null=True)
    """Where the whole value lies when it is too large; `body` is then its beginning."""


class Payload(TenantModel):
    """A large value in storage; the row is the reference that rights and collection follow."""

    run = models.ForeignKey(Run, models.CASCADE, db_constraint=False, related_name="+")
    digest = models.TextField()
    size = models.BigIntegerField()
    media_type = models.TextField()
    location = models.TextField()
    created_at = models.DateTimeField(db_default=Now())


class AgentVersion(models.Model):
    """One version of an agent as workers announced it; of no tenant, for code is registered once."""

    agent = models.TextField()
    version = models.TextField()
    model = models.TextField(default="")
    fits = ArrayField(models.TextField(), default=list)
    tools = ArrayField(models.TextField(), default=list)
    """Fingerprints of its tools, in their order."""
    definition = ExactJSONField(default=dict)
    announced_at = models.DateTimeField(db_default=Now())
    known_until = models.DateTimeField(db_default=Now())
    """Until when a live worker knows this version, itself or by `fits`."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["agent", "version"], name="agent_version_once")]


class ToolDefinition(models.Model):
    """A tool as code declared it, by fingerprint; web and workers read schemas here, not from imports."""

    fingerprint = models.TextField(primary_key=True)
    name = models.TextField(db_index=True)
    definition = ExactJSONField()
    """title, summary, description, schema, effect, risk, sensitive, undo, timeout, version."""
    announced_at = models.DateTimeField(db_default=Now())


class WorkerSeen(models.Model):
    """A live worker and the versions it can run, as `agent@version`, until when unless it says so again."""

    worker = models.TextField(primary_key=True)
    knows = ArrayField(models.TextField(), default=list)
    until = models.DateTimeField()
