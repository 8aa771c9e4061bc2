"""Who may see a run and who may operate it; default no. The one guard for pages, API and live topics."""

from uuid import UUID

from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat
from django.utils.translation import gettext_lazy as _

from approvals.models import ApprovalRequest, Asked
from runs.models import Run
from tenants.fields import SubjectField
from tenants.models import AgentAccess, AgentUserPermission, Member
from tenants.refusals import forbidden, not_found

STORY = Func(F("id"), function="subject_of_run", output_field=SubjectField())
"""The subject of a run as its events have it."""
SUBJECT = Concat(Value("run:"), Cast(F("id"), TextField()), output_field=TextField())


def visible(member: Member) -> "QuerySet[Run]":
    """The runs this member may read.

    Everyone: those they initiated. A manager: all. A reviewer: those that asked for an approval. Whoever
    was asked: those. A restricted agent's only with its `view_runs` permission, unless initiated or asked.
    """
    if not member.active:
        return Run.objects.none()
    asked = Asked.objects.filter(request__subject=OuterRef("subject"), member=member)
    mine = Q(initiators__contains=[member.id]) | Exists(asked)
    return Run.objects.alias(subject=SUBJECT).filter(mine | _by_role(member))


def may_view(member: Member, run_id: UUID) -> bool:
    """Whether this member may read this run."""
    return visible(member).filter(id=run_id).exists()


def may_operate(member: Member, run: Run) -> bool:
    """Whether this member may pause, resume, retry and settle: a manager who is allowed this agent."""
    return member.has("manager") and run.agent not in barred(member, "operate_runs")


def settlers(run: Run) -> "QuerySet[Member]":
    """Who may say what became of the run's calls: managers who are allowed this agent and did not start the run."""
    found = Member.objects.filter(active=True, roles__contains=["manager"]).exclude(pk__in=run.initiators)
    if not AgentAccess.objects.filter(restricted=True, agent=run.agent).exists():
        return found
    held = AgentUserPermission.objects.filter(content_object__agent=run.agent)
    for permission in ("view_runs", "operate_runs"):
        found = found.filter(person_id__in=held.filter(permission__codename=permission).values("user_id"))
    return found


def lacking_settler(run: Run) -> str:
    """Why nobody may say what became of the run's calls: `no_manager`, `initiators` or `restricted`; empty where
    somebody may."""
    if settlers(run).exists():
        return ""
    managers = Member.objects.filter(active=True, roles__contains=["manager"])
    if not managers.exists():
        return "no_manager"
    return "restricted" if managers.exclude(pk__in=run.initiators).exists() else "initiators"


def may_cancel(member: Member, run: Run) -> bool:
    """Whether this member may stop the run: whoever may operate it, and its initiators."""
    return member.active and (member.id in run.initiators or may_operate(member, run))


def found(member: Member, run_id: UUID | None) -> Run:
    """The run, if this member may read it; Refusal 404 else, the same for an unknown and a foreign id."""
    run = visible(member).filter(id=run_id).first() if run_id else None
    if run is None:
        raise not_found(_("There is no such run."))
    return run


def demand_operate(member: Member, run: Run) -> None:
    """Refusal 403 unless this member may operate the run."""
    if not may_operate(member, run):
        raise forbidden(_("Only a manager can do this."))


def barred(member: Member, permission: str) -> frozenset[str]:
    """The restricted agents for which this member lacks this permission (`view_runs`, `operate_runs`)."""
    restricted = set(AgentAccess.objects.filter(restricted=True).values_list("agent", flat=True))
    if not restricted:
        return frozenset()
    held = AgentUserPermission.objects.filter(user_id=member.person_id, permission__codename=permission)
    return frozenset(restricted - set(held.values_list("content_object__agent", flat=True)))


def _by_role(member: Member) -> Q:
    requests = ApprovalRequest.objects.filter(subject=OuterRef("subject"))
    if member.has("manager"):
        role = Q()
    elif member.has("reviewer"):
        role = Q(Exists(requests))
    else:
        return Q(pk__in=[])
    closed = barred(member, "view_runs")
    return role & ~Q(agent__in=closed) if closed else role or Q(pk__isnull=False)
