"""The websocket of a page: it rings, with a topic and a number, and tells nothing else."""

import asyncio
import contextlib
import json
import logging
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from django.conf import settings
from django.db import Error as DatabaseError
from redis import RedisError

from tenants import doors, live, members, topics
from tenants.scope import scope

logger = logging.getLogger(__name__)

INBOX = "inbox"
MOST_TOPICS = 50
TICK_SECONDS = 20.0
SIGNED_OUT = 4401
NOT_UNDERSTOOD = 4400
TRY_AGAIN = 1013
SessionStore = import_module(settings.SESSION_ENGINE).SessionStore


@dataclass(frozen=True, slots=True)
class Look:
    """What the database says at one look: the tenant, its stamp, and the numbers of the topics allowed."""

    tenant: UUID
    stamp: int
    numbers: dict[str, int] = field(default_factory=dict)


def look(person: Any, session: str | None, slug: str, watched: list[str]) -> Look | None:
    """One look, in one short scope; None for one who is signed out, or no longer a member."""
    if not person.is_authenticated or not session or not SessionStore().exists(session):
        return None
    membership = doors.membership(person.pk, slug)
    if membership is None:
        return None
    with scope(membership.tenant, read_only=True):
        member = members.member_for(person.pk)
        if member is None or not member.person.is_active:
            return None
        return Look(membership.tenant, membership.stamp, topics.numbers(member, watched))


class BellConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]
    """`{"watch": [topics]}` in, `{"topic", "seq"}` out. The inbox is watched without asking."""

    tenant: UUID | None = None
    ticking: "asyncio.Task[None] | None" = None
    channel_name: str | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one socket; where the bell cannot be reached, tell the page to come again.

        A connection that broke unnoticed shows when the socket's own channel is made, before anything else, and is
        made anew by that: so a second try comes first.
        """
        for _ in range(2):
            try:
                return await super().__call__(scope, receive, send)  # type: ignore[no-any-return]
            except RedisError as error:
                if self.channel_name is not None:
                    raise
                logger.warning("A page cannot listen: %s", error)
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": TRY_AGAIN})
        return None

    async def connect(self) -> None:
        """Accept, then send away whoever is no member: a refusal before accepting tells the page nothing."""
        self.told: dict[str, int] = {}
        self.joined: set[str] = set()
        self.asked: list[str] = [INBOX]
        await self.accept()
        await self._listen(self.asked)
        if self.tenant is not None:
            self.ticking = asyncio.create_task(self._tick())

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        """Stop ticking, and leave what was watched."""
        if self.ticking:
            self.ticking.cancel()
        with contextlib.suppress(RedisError, OSError):
            await self._leave(set(self.joined))

    async def receive_json(self, content: Any, **_: Any) -> None:
        """Watch these topics and no others; those that are unknown, foreign or not allowed are not heard."""
        wanted = content.get("watch") if isinstance(content, dict) else None
        if not isinstance(wanted, list) or not all(isinstance(topic, str) for topic in wanted):
            await self.close(NOT_UNDERSTOOD)
            return
        self.asked = [INBOX, *[topic for topic in wanted if topic != INBOX][:MOST_TOPICS]]
        await self._listen(self.asked)

    async def receive(self, text_data: str | None = None, **_: Any) -> None:
        """Read what the page sent; nothing, where it is no JSON."""
        try:
            content = json.loads(text_data or "")
        except (ValueError, RecursionError):
            content = None
        await self.receive_json(content)

    async def bell(self, event: dict[str, Any]) -> None:
        """A bell rang in a group this socket joined."""
        await self._tell(event["topic"], event["seq"])

    async def _listen(self, wanted: list[str]) -> None:
        """Watch these. Where that fails the page comes again: a socket that stayed open would hear of nothing."""
        try:
            found = await self._look(wanted)
            if found is not None:
                self.tenant = found.tenant
                await self._join(found)
        except (RedisError, DatabaseError, OSError) as error:
            logger.warning("A page cannot listen: %s", error)
            await self.close(TRY_AGAIN)
        else:
            if found is None:
                await self.close(SIGNED_OUT)

    async def _join(self, found: Look) -> None:
        heard = {INBOX, *found.numbers}
        await self._leave(self.joined - heard)
        if new := heard - self.joined:
            for topic in new:
                await self.channel_layer.group_add(live.group(found.tenant, topic), self.channel_name)
                self.joined.add(topic)
            # Once more, for what happened between the first look and the joining.
            found = await self._look(self.asked) or found
        # What a page has seen is not known here; it compares the number with its own.
        for topic, number in found.numbers.items():
            if self.told.get(topic) != number:
                await self._tell(topic, number)

    async def _leave(self, left: set[str]) -> None:
        for topic in left:
            self.joined.discard(topic)
            self.told.pop(topic, None)
            await self.channel_layer.group_discard(live.group(self._of(), topic), self.channel_name)

    async def _tick(self) -> None:
        """Every 20 seconds: is this still a member, may they still watch, and did a bell get lost?"""
        with contextlib.suppress(OSError):  # The page had gone, and its going had not been heard yet.
            while True:
                await asyncio.sleep(TICK_SECONDS)
                await self._listen(self.asked)

    async def _tell(self, topic: str, seq: int) -> None:
        self.told[topic] = seq
        await self.send_json({"topic": topic, "seq": seq})

    async def _look(self, wanted: list[str]) -> Look | None:
        slug = self.scope["url_route"]["kwargs"]["tenant"]
        session = self.scope["session"].session_key
        found: Look | None = await database_sync_to_async(look)(self.scope["user"], session, slug, wanted)
        return found

    def _of(self) -> UUID:
        assert self.tenant is not None
        return self.tenant


class NobodyHere(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any other address: refused."""

    async def connect(self) -> None:
        """Refuse."""
        await self.close()
