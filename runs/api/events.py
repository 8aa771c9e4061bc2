"""The events of a run, with a long poll that holds no connection while it waits."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.db import connection
from django.utils.translation import gettext_lazy as _
from ninja import Query
from ninja.errors import AuthenticationError

from runs import access
from runs.api.answers import event_answer
from runs.api.routing import router
from runs.api.schemas import EventPage, EventsQuery
from runs.askings import PREFIX, subject
from tenants import events, ids, live
from tenants.bearer import demand, read
from tenants.events import EventRow
from tenants.keys import Bearer
from tenants.refusals import Refusal
from tenants.requests import KeyRequest
from tenants.scope import scope

LOOK = 1.0  # Seconds between two looks where no bell rings.


@router.get("/runs/{run_id}/events", response=EventPage, summary="Read or await the events of a run")
async def list_events(request: KeyRequest, run_id: str, query: Query[EventsQuery]) -> dict[str, Any]:
    """Events after a number, in order; waits for the first where there is none yet."""
    bearer = demand(request, "runs:read")
    since, limit = _since(query), query.limit
    rows = await _look(request, run_id, since, limit)
    until = time.monotonic() + query.wait
    if not rows and query.wait:
        async with _bell(bearer, run_id) as rung:
            while not rows and (left := until - time.monotonic()) > 0:
                rows = await _look(request, run_id, since, limit)
                if not rows:
                    await rung.wait(min(left, LOOK))
    items = [event_answer(row) for row in rows[:limit]]
    return {"items": items, "next": str(items[-1]["seq"]) if len(rows) > limit else None}


class Rung:
    """Waits for the bell of one topic, or only for the time where the bell cannot be heard."""

    def __init__(self, channel: str | None) -> None:
        self.channel = channel

    async def wait(self, seconds: float) -> None:
        """Return at the next ring, or after `seconds`."""
        if self.channel is None:
            await asyncio.sleep(seconds)
            return
        try:
            async with asyncio.timeout(seconds):
                await get_channel_layer().receive(self.channel)
        except TimeoutError:
            return


@asynccontextmanager
async def _bell(bearer: Bearer, run_id: str) -> AsyncIterator[Rung]:
    layer = get_channel_layer()
    group = live.group(bearer.tenant, f"{PREFIX}{ids.parse(run_id)}")
    try:
        channel = await layer.new_channel()
        await layer.group_add(group, channel)
    except OSError:
        yield Rung(None)
        return
    try:
        yield Rung(channel)
    finally:
        await layer.group_discard(group, channel)


@sync_to_async
def _look(request: KeyRequest, run_id: str, after: int, limit: int) -> list[EventRow]:
    """One look in a scope of its own; the key and the right to read are asked anew each time.

    The connection goes back to the pool: the request's thread would keep it to the end of the wait.
    """
    try:
        bearer = read(request)
        if bearer is None:
            raise AuthenticationError
        with scope(bearer.tenant, read_only=True):
            run = access.found(bearer.member, ids.parse(run_id))
            return events.after(subject(run.id), after, limit + 1)
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _since(query: EventsQuery) -> int:
    if not query.cursor:
        return query.after
    if not query.cursor.isdecimal() or len(query.cursor) > 18:
        raise Refusal("bad_cursor", detail=_("This cursor was not given by this list."), status=400)
    return int(query.cursor)
