"""Which requests a member may read: reviewers and managers all, but for restricted agents; others their own."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import ApprovalRequest, Asked
from tenants.models import AgentAccess, AgentUserPermission, Member


def readable(member: Member) -> QuerySet[ApprovalRequest]:
    """The requests of the tenant in scope that the member may read.

    Reviewers and managers read all, but those of a restricted agent only with its permission. Whoever was asked, or
    started the run, reads that request; an admin reads nothing else.
    """
    was_asked = Exists(Asked.objects.filter(request=OuterRef("pk"), member=member))
    own = Q(initiators__contains=[member.pk]) | Q(was_asked)
    found = ApprovalRequest.objects.all()
    if not member.has("reviewer", "manager"):
        return found.filter(own)
    closed = shut(member)
    return found.filter(own | ~Q(agent__in=closed)) if closed else found


def shut(member: Member) -> list[str]:
    """The restricted agents whose runs this member has no permission to see or to review."""
    restricted = set(AgentAccess.objects.filter(restricted=True).values_list("agent", flat=True))
    if not restricted:
        return []
    held = AgentUserPermission.objects.filter(
        user_id=member.person_id, permission__codename__in=("review", "view_runs")
    ).values_list("content_object__agent", flat=True)
    return sorted(restricted - set(held))
