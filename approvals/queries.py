"""Lists of requests: what the inbox and the API filter by, read by keyset."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from approvals import access, clock, errors, states
from approvals.calls import RISKS
from approvals.models import ApprovalRequest, Asked, RequestVersion, Review
from tenants.models import Member

SEARCHED = timedelta(days=90)
"""How far back `q` looks: a search reads every row of its window."""
VOTES = ("approve", "edit")
"""Answers that count towards the approvals needed."""


@dataclass(frozen=True)
class Filters:
    """What a list is narrowed by; empty means not at all."""

    status: str = ""
    tool: str = ""
    risk: str = ""
    agent: str = ""
    subject: str = ""
    mine: bool = False
    q: str = ""


def listed(member: Member, filters: Filters) -> QuerySet[ApprovalRequest]:
    """The requests the member may read, narrowed. Raises Refusal 422 for a status or risk that does not exist."""
    return narrowed(access.readable(member), filters, member=member)


def narrowed(found: QuerySet[ApprovalRequest], filters: Filters, *, member: Member) -> QuerySet[ApprovalRequest]:
    """These requests, narrowed; `mine` are those the member is asked about. Raises as `listed` does."""
    known: Mapping[str, tuple[str, ...]] = {"status": states.names(states.REQUEST), "risk": RISKS}
    for name, choices in known.items():
        if value := getattr(filters, name):
            if value not in choices:
                raise errors.field(name, _("One of these is wanted: %(choices)s.") % {"choices": ", ".join(choices)})
            found = found.filter(**{name: value})
    for name in ("tool", "agent", "subject"):
        if value := getattr(filters, name):
            found = found.filter(**{name: value})
    if filters.mine:
        found = found.filter(asked_of(member))
    found = found.only(*_shown())
    return found.filter(_words(filters.q)) if filters.q else found


def _shown() -> list[str]:
    """All of a request but its precedents, which are wide and which no list shows.

    Django takes a deferred field to defer the wordings too; so those that are wanted are named.
    """
    own = [field.name for field in ApprovalRequest._meta.concrete_fields if field.name != "precedents"]
    return [*own, "worded", "demanded"]


def asked_of(member: Member) -> Exists:
    """A condition: the member is asked now."""
    return Exists(Asked.objects.filter(request=OuterRef("pk"), member=member, until__isnull=True))


def voted() -> Exists:
    """A condition on `Asked`: an approval of the version that stands is in, the member's own or one that was given in
    their place, so it waits for others."""
    theirs = Q(member=OuterRef("member_id")) | Q(in_place_of=OuterRef("member_id"))
    given = Review.objects.filter(theirs, decision__in=VOTES)
    return Exists(given.filter(request=OuterRef("request_id"), version=OuterRef("request__version")))


def one(member: Member, request_id: UUID) -> ApprovalRequest:
    """The request with this id; raises the same Refusal 404 for one that is unknown, foreign, or not the member's."""
    found = access.readable(member).filter(pk=request_id).first()
    if found is None:
        raise errors.unknown()
    return found


def asked_first(request: ApprovalRequest, versions: Sequence[RequestVersion]) -> RequestVersion:
    """The version in which the agent asked; of a request that supersedes others, which may begin with what a person
    made of them, the first of those. No query where it supersedes none, two or more else."""
    if request.supersedes is None:
        return versions[0]
    root = request.supersedes
    while root.supersedes is not None:
        root = root.supersedes
    return RequestVersion.objects.get(request=root, number=1)


def _words(q: str) -> Q:
    """A condition on a bounded window of time: every word occurs in the title, the tool or the run's title."""
    recent = Q(opened_at__gte=clock.now() - SEARCHED)
    for word in q.split()[:10]:
        titles = RequestVersion.objects.filter(request=OuterRef("pk"), title__icontains=word)
        recent &= Q(Exists(titles)) | Q(tool__icontains=word) | Q(own_run__title__icontains=word)
    return recent
