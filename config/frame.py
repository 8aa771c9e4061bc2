"""What stands around every page of a tenant: where one is, as whom, and how much waits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from approvals import queries
from approvals.models import Asked
from runs import access
from runs.models import Run, Step
from runs.states import FINISHED
from tenants import doors, topics
from tenants.models import Member
from tenants.scope import frames

MOST = 1000  # Nobody counts further for a number in the menu.
ROLES = ("reviewer", "manager", "admin")
EVERYBODY = ()  # Whoever is a member; one without a role still has the runs they started.


@dataclass(frozen=True)
class NavItem:
    """One entry of the menu; `counted` says that a number belongs to it, which may be unknown (None)."""

    key: str
    url: str
    counted: bool = False
    count: int | None = None


@dataclass(frozen=True)
class Frame:
    """The frame of one answer; `base` is the tenant's address with its slash."""

    base: str
    tenant_name: str
    tenant_slug: str
    person: str
    email: str
    roles: tuple[str, ...]
    zone: str
    several_tenants: bool
    nav: tuple[NavItem, ...]
    seq: int | None = None
    """The number of the topic `inbox` when the page was made: an older bell need not be heard."""

    @property
    def inbox(self) -> int | None:
        """How many requests wait for the reader."""
        return next((item.count for item in self.nav if item.key == "inbox"), None)


def waiting(member: Member) -> int:
    """Open requests this member is asked about and has not approved."""
    asked = Asked.objects.filter(member=member, until__isnull=True, request__status="pending")
    return asked.exclude(queries.voted()).count()


def open_runs(member: Member) -> int:
    """Unfinished runs this member may read, as the list counts them."""
    return access.visible(member).exclude(status__in=sorted(FINISHED))[:MOST].count()


def unsettled(_member: Member) -> int:
    """Calls that may or may not have happened."""
    found = Step.objects.filter(unknown_since__isnull=False, status="unknown")
    return found.filter(run_id__in=Run.objects.filter(unsettled=True).values("id"))[:MOST].count()


SECTIONS: tuple[tuple[str, str, tuple[str, ...], Callable[[Member], int] | None], ...] = (
    ("inbox", "inbox/", EVERYBODY, waiting),
    ("decided", "decided/", EVERYBODY, None),
    ("runs", "runs/", EVERYBODY, open_runs),
    ("outcomes", "outcomes/", ("manager",), unsettled),
    ("insights", "insights/", ("manager",), None),
    ("tools", "settings/tools/", ("manager", "admin"), None),
    ("people", "settings/people/", ("admin",), None),
    ("audit", "audit/", ("admin",), None),
    ("settings", "settings/", ROLES, None),
)


def frame(request: HttpRequest) -> dict[str, Any]:
    """The context processor: `frame`, or None where a page belongs to no tenant."""
    tenant, member = getattr(request, "tenant", None), getattr(request, "member", None)
    if tenant is None or member is None:
        return {"frame": None}
    base = f"/t/{tenant.slug}/"
    return {
        "frame": Frame(
            base=base,
            tenant_name=tenant.name,
            tenant_slug=tenant.slug,
            person=member.name,
            email=member.email,
            roles=tuple(role for role in ROLES if role in member.roles),
            zone=zone(),
            several_tenants=len(doors.memberships(member.person_id)) > 1,
            nav=tuple(_nav(base, member)),
            seq=topics.numbers(member, ["inbox"]).get("inbox") if frames() else None,
        )
    }


def _nav(base: str, member: Member) -> list[NavItem]:
    inside = bool(frames())
    return [
        NavItem(key, base + path, count is not None, count(member) if count and inside else None)
        for key, path, roles, count in SECTIONS
        if not roles or member.has(*roles)
    ]


def zone() -> str:
    """The zone of the times on the page, such as "Berlin, UTC+1"."""
    now = timezone.localtime()
    minutes = int((now.utcoffset() or now - now).total_seconds()) // 60
    hours, rest = divmod(abs(minutes), 60)
    offset = f"UTC{'-' if minutes < 0 else '+'}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"
    place = timezone.get_current_timezone_name().rpartition("/")[2].replace("_", " ")
    return offset if place in {"UTC", "GMT"} else f"{place}, {offset}"


@require_safe
def counts(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001  The middleware has read it.
    """The numbers of the menu alone, for a page whose bell rang."""
    return render(request, "counts.html")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  Django's own words are not for people.
    """Says in plain words that the form was older than the sign-in, and leads back to a fresh page."""
    back = request.path if request.method in {"GET", "HEAD"} else request.headers.get("Referer", "")
    same = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return render(request, "csrf.html", {"back": back if same else "/"}, status=403)
