"""What asking raises and refuses, each refusal with its sentence for the person who was refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from approvals.models import ApprovalRequest
from tenants.refusals import Refusal, forbidden, invalid, not_found


class NotPending(RuntimeError):
    """A caller's mistake: a request that has ended was to change. No person sees this."""


def unknown() -> Refusal:
    """The one answer to a foreign id and an unknown one."""
    return not_found(_("There is no such request."))


def may_not(because: Any, code: str) -> Refusal:
    """The guard said no."""
    return forbidden(because, code=f"not_yours_{code}" if code else "forbidden")


def ended(request: ApprovalRequest) -> Refusal:
    """The request has its end already; the answer says which, by whom and when."""
    by = (request.decided_by or {}).get("name", "")
    words = {
        "approved": _("%(by)s approved this already. Your answer was not counted."),
        "rejected": _("%(by)s rejected this already. Your answer was not counted."),
        "responded": _("%(by)s answered this already. Your answer was not counted."),
        "expired": _("Nobody answered in time, so this expired. It was not run. Your answer was not counted."),
        "cancelled": _("This was closed by %(by)s. There is nothing left to answer."),
        "superseded": _("A newer request has replaced this one. Answer that one."),
    }
    code = "already_decided" if request.status in ("approved", "rejected", "responded") else request.status
    return Refusal(code, detail=words[request.status] % {"by": by}, standing=standing(request))


def standing(request: ApprovalRequest) -> dict[str, Any]:
    """The state that stands: status, by whom, when."""
    at = request.decided_at
    return {
        "status": request.status,
        "version": request.version,
        "by": (request.decided_by or {}).get("name") or None,
        "at": at.isoformat(timespec="milliseconds") if at else None,
    }


def changed(request: ApprovalRequest) -> Refusal:
    """The answer is about a version that is no longer the last."""
    return Refusal(
        "changed",
        detail=_("This changed since you opened it: it is version %(version)s now. Read it, then answer.")
        % {"version": request.version},
        standing=standing(request),
    )


def answered(request: ApprovalRequest) -> Refusal:
    """This person's answer to this version is in already."""
    return Refusal(
        "already_answered",
        detail=_("Your answer to this version is in already. One person counts once."),
        standing=standing(request),
    )


def wants_factor() -> Refusal:
    """The tenant wants a fresh second factor for a critical answer; a page can ask for it."""
    detail = _("A critical request is answered on the page, with a one-time code.")
    refusal = Refusal("second_factor_required", status=403, detail=detail)
    refusal.challenge = True
    return refusal


def field(name: str, message: str, *, code: str = "invalid", detail: str = "") -> Refusal:
    """One field of what was sent cannot be used."""
    return fields([{"field": name, "message": message}], code=code, detail=detail)


def fields(errors: Sequence[Mapping[str, Any]], *, code: str = "invalid", detail: str = "") -> Refusal:
    """Fields of what was sent cannot be used; nothing was changed."""
    said = detail or _("Nothing was changed: %(why)s") % {"why": errors[0]["message"]}
    return invalid(said, code=code, errors=errors)
