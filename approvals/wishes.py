"""How a member wishes to be told: language, zone, what by which way, digests, quiet hours."""

from collections.abc import Mapping
from datetime import time
from typing import Any

from django.utils.translation import gettext as _

from approvals import errors
from approvals.models import NoticeWish
from approvals.notifications import outbox
from approvals.notifications.timing import DIGESTS
from tenants import audit
from tenants.actors import Actor
from tenants.founding import demand_locale, demand_timezone
from tenants.models import Member
from tenants.scope import current

KINDS = (*outbox.ABOUT_OPEN, outbox.ENDED, outbox.UNKNOWN)
TRANSPORTS = ("email", "chat")
Shape = dict[str, Any]


def read(member: Member) -> Shape:
    """The member's wishes, whole: `kinds` says for each kind of notice by which ways it is wanted."""
    wish = NoticeWish.objects.filter(member=member).first() or NoticeWish(off=[])
    return {
        "locale": member.locale or None,
        "timezone": member.timezone or None,
        "digest": wish.digest,
        "quiet": _quiet(wish),
        "kinds": {kind: {way: f"{kind}:{way}" not in wish.off for way in TRANSPORTS} for kind in KINDS},
    }


def change(member: Member, *, actor: Actor, changes: Mapping[str, Any], channel: str = "") -> Shape:
    """Wish something else; what is not named stays. Raises Refusal 422."""
    wish = NoticeWish.objects.select_for_update().filter(member=member).first()
    wish = wish or NoticeWish(tenant_id=current(), member=member, off=[])
    if "digest" in changes:
        wish.digest = _digest(changes["digest"])
    if "quiet" in changes:
        wish.quiet_from, wish.quiet_until = _hours(changes["quiet"])
    if "kinds" in changes:
        wish.off = _off(wish.off, changes["kinds"])
    wish.save()
    _speak(member, changes)
    after = read(member)
    target = f"member:{member.pk}"
    audit.record("notices.changed", actor=actor, target=target, detail={"after": after}, channel=channel)
    return after


def _speak(member: Member, changes: Mapping[str, Any]) -> None:
    if changes.get("locale"):
        demand_locale(changes["locale"])
    if changes.get("timezone"):
        demand_timezone(changes["timezone"])
    for name in ("locale", "timezone"):
        if name in changes:
            setattr(member, name, changes[name] or "")
    member.save(update_fields=["locale", "timezone"])


def _digest(value: Any) -> str:
    if value not in DIGESTS:
        raise errors.field("digest", _("This is none of %(names)s.") % {"names": ", ".join(DIGESTS)})
    return str(value)


def _hours(value: Any) -> tuple[time | None, time | None]:
    if value is None:
        return None, None
    try:
        begins, ends = (time.fromisoformat(str(value[name])) for name in ("from", "until"))
    except (KeyError, TypeError, ValueError):
        message = _("Two times of day are wanted, such as 22:00 and 07:00.")
        raise errors.field("quiet", message) from None
    if begins == ends or begins.tzinfo or ends.tzinfo:
        raise errors.field("quiet", _("Quiet hours begin and end at different times of your own zone."))
    return begins, ends


def _off(before: list[str], kinds: Any) -> list[str]:
    off = set(before)
    if not isinstance(kinds, Mapping):
        raise errors.field("kinds", _("For each kind of notice, say by which ways it is wanted."))
    for kind, ways in kinds.items():
        if kind not in KINDS or not isinstance(ways, Mapping) or not set(ways) <= set(TRANSPORTS):
            raise errors.field("kinds", _("There is no such kind of notice: %(name)s.") % {"name": str(kind)[:40]})
        for way, wanted in ways.items():
            (off.discard if wanted else off.add)(f"{kind}:{way}")
    return sorted(off)


def _quiet(wish: NoticeWish) -> Shape | None:
    if wish.quiet_from is None or wish.quiet_until is None:
        return None
    return {"from": f"{wish.quiet_from:%H:%M}", "until": f"{wish.quiet_until:%H:%M}"}
