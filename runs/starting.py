"""How a run comes to be: its row, its lease, its input and its first event, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Now

from runs import bells, states, validation
from runs.models import Lease, Run, Text
from tenants import audit, broker, events, ids
from tenants.actors import Actor
from tenants.locks import hold
from tenants.models import ApiKey, Member
from tenants.scope import current


@dataclass(frozen=True, slots=True)
class Start:
    """What a run is started with. `input` is JSON text as it came; `deadline` needs an offset."""

    agent: str
    input: str
    title: str = ""
    version: str = ""
    """Empty: the newest version that a live worker knows."""
    deadline: datetime | None = None
    on_behalf_of: UUID | None = None
    """A member; shut out from deciding like the starter."""
    labels: Mapping[str, str] = field(default_factory=dict)


def start(wanted: Start, *, actor: Actor, channel: str = "") -> Run:
    """Queue a run; needs scope(tenant).

    Refusal 404 agent_unknown (also: not switched on), 409 agent_stopped, 422 version_unknown, input_invalid,
    member_unknown, labels_invalid, deadline_passed, deadline_invalid.
    """
    run = _checked(wanted, actor)
    hold(f"run:{run.pk}")
    run.save(force_insert=True)
    run.refresh_from_db(fields=["due_at"])
    Lease.objects.create(tenant_id=current(), run=run)
    Text.objects.create(tenant_id=current(), run=run, seq=0, name="input", body=wanted.input)
    data = {"agent": run.agent, "version": run.version}
    events.append(f"run:{run.pk}", states.run_event(None, states.QUEUED), actor=actor, message=run.title, data=data)
    broker.publish("runs.tasks.advance", run.tenant_id, run.pk)
    bells.moved(run.tenant_id)
    detail = {**data, "title": run.title, "initiators": [str(each) for each in run.initiators]}
    audit.record("run.started", actor=actor, target=f"run:{run.pk}", detail=detail, channel=channel)
    return run


def person(actor: Actor) -> UUID | None:
    """The member behind an actor: the person, or the owner of the key, also of a service key; None for the rest."""
    if actor.member is None and actor.kind == "key":
        return ApiKey.objects.values_list("owner_id", flat=True).get(pk=actor.id)
    return actor.member


def _checked(wanted: Start, actor: Actor) -> Run:
    starter = person(actor)
    validation.agent(wanted.agent, member=Member.objects.filter(pk=starter).first() if starter else None)
    validation.run_input(wanted.input)
    validation.deadline(wanted.deadline)
    validation.member(wanted.on_behalf_of)
    return Run(
        id=ids.new(),
        tenant_id=current(),
        agent=wanted.agent,
        version=validation.version(wanted.agent, wanted.version),
        title=validation.title(wanted.title),
        labels=validation.labels(wanted.labels),
        deadline=wanted.deadline,
        initiators=list(dict.fromkeys(each for each in (starter, wanted.on_behalf_of) if each)),
        started_by=actor.as_json(),
        due_at=Now(),  # Should the message be lost, the sweep announces the run.
    )
