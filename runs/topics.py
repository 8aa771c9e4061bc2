"""What can be watched here: one run, the list of runs, the outcome desk."""

import time

from runs import access, askings, bells
from tenants import events, ids, live, topics
from tenants.models import Member

PACE = 10


def connect() -> None:
    """Let members watch what they may read. The bell of a list says that some run moved, and not which."""
    topics.register("run", may_watch=_may_watch, number=_number)
    topics.register("runs", may_watch=lambda _member, key: key == "", number=_last(bells.RUNS))
    topics.register("outcomes", may_watch=_may_settle, number=_last(bells.OUTCOMES))


def _may_watch(member: Member, key: str) -> bool:
    run_id = ids.parse(key)
    return run_id is not None and access.may_view(member, run_id)


def _may_settle(member: Member, key: str) -> bool:
    return key == "" and member.has("manager")


def _number(_member: Member, key: str) -> int:
    run_id = ids.parse(key)
    return events.last_seq(askings.subject(run_id)) if run_id else 0


def _last(topic: str) -> topics.Number:
    """The number of a list: what rang last, for a page that was not yet listening then; no index says what changed.

    And milliseconds in steps of ten seconds, for where the bell itself was lost.
    """

    def number(member: Member, _key: str) -> int:
        return max(int(time.time()) // PACE * PACE * 1000, live.last(topic, tenant=member.tenant_id))

    return number
