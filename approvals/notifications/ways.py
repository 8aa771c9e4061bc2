"""By which ways a tenant's people can be told, and how each of them wishes it; one statement for each of both."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject

from approvals.models import WEBHOOK, Channel, NoticeWish
from approvals.notifications import timing
from approvals.notifications.timing import Wish
from tenants.models import Member, Tenant
from tenants.scope import current


@dataclass(frozen=True)
class Ways:
    """Whether there is mail, the chat channels that belong to nobody with the kinds they hear (None is all), and those
    of a member."""

    email: bool
    zone: str
    rooms: dict[UUID, list[str] | None] = field(default_factory=dict)
    own: dict[UUID, list[UUID]] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        return self.email or bool(self.rooms) or bool(self.own)

    def rooms_that_hear(self, kind: str) -> list[UUID]:
        """The channels that belong to nobody and want this kind of notice."""
        return [room for room, kinds in self.rooms.items() if kinds is None or kind in kinds]


@dataclass(frozen=True)
class Ear:
    """A member, by which ways they can be told, and how they wish it."""

    member: Member
    wish: Wish
    email: bool
    channels: list[UUID]


def read() -> Ways:
    """The ways out of the tenant in scope."""
    chats = Channel.objects.filter(enabled=True, archived_at=None).exclude(kind=WEBHOOK)
    shape = JSONObject(id="id", member="member_id", kinds="kinds")
    found = Tenant.objects.annotate(chats=ArraySubquery(chats.values(json=shape))).values_list(
        "notifications", "timezone", "chats"
    )
    wishes, zone, listed = found.get(pk=current())
    own: dict[UUID, list[UUID]] = {}
    for each in listed:
        if each["member"]:
            own.setdefault(UUID(each["member"]), []).append(UUID(each["id"]))
    return Ways(
        email=mail_is_on() and (wishes or {}).get("email") is not False,
        zone=zone,
        rooms={UUID(each["id"]): each["kinds"] for each in listed if not each["member"]},
        own=own,
    )


def ears(members: Sequence[UUID], out: Ways) -> list[Ear]:
    """The active ones of these members, with how they wish to be told."""
    shape = JSONObject(off="off", digest="digest", quiet_from="quiet_from", quiet_until="quiet_until")
    wish = NoticeWish.objects.filter(member=OuterRef("pk")).values(json=shape)[:1]
    rows: Any = Member.objects.filter(pk__in=members, active=True).select_related("person")
    return [
        Ear(row, timing.read(row.wish, row.timezone or out.zone), out.email, out.own.get(row.pk, []))
        for row in rows.annotate(wish=Subquery(wish))
    ]


def mail_is_on() -> bool:
    """Whether there is a mail server: the console of a laptop is none."""
    return "console" not in settings.EMAIL_BACKEND and "dummy" not in settings.EMAIL_BACKEND
