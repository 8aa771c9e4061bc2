"""Every event in words, for whoever chooses which of them a webhook is told."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

EVENT_WORDS: Mapping[str, str | Promise] = {
    "approval.requested": pgettext_lazy("event", "somebody is asked"),
    "approval.viewed": pgettext_lazy("event", "first looked at by somebody"),
    "approval.reviewed": pgettext_lazy("event", "a vote came in"),
    "approval.approved": pgettext_lazy("event", "approved"),
    "approval.rejected": pgettext_lazy("event", "rejected"),
    "approval.edited": pgettext_lazy("event", "edited: a new version"),
    "approval.responded": pgettext_lazy("event", "answered in place of the tool"),
    "approval.expired": pgettext_lazy("event", "nobody answered in time"),
    "approval.escalated": pgettext_lazy("event", "the next level is asked"),
    "approval.reassigned": pgettext_lazy("event", "somebody else is asked instead"),
    "approval.cancelled": pgettext_lazy("event", "closed without an answer"),
    "approval.superseded": pgettext_lazy("event", "replaced by a newer request"),
    "run.queued": pgettext_lazy("event", "waits for a worker"),
    "run.started": pgettext_lazy("event", "a worker took it up"),
    "run.waiting": pgettext_lazy("event", "waits for people"),
    "run.sleeping": pgettext_lazy("event", "waits for a time"),
    "run.resumed": pgettext_lazy("event", "goes on"),
    "run.recovered": pgettext_lazy("event", "taken over from a worker that vanished"),
    "run.paused": pgettext_lazy("event", "paused"),
    "run.attention": pgettext_lazy("event", "needs a person"),
    "run.succeeded": pgettext_lazy("event", "succeeded"),
    "run.failed": pgettext_lazy("event", "failed"),
    "run.cancelled": pgettext_lazy("event", "stopped"),
    "run.commented": pgettext_lazy("event", "commented on"),
    "step.planned": pgettext_lazy("event", "planned"),
    "step.started": pgettext_lazy("event", "started"),
    "step.progress": pgettext_lazy("event", "progress told"),
    "step.retrying": pgettext_lazy("event", "will be tried again"),
    "step.completed": pgettext_lazy("event", "completed"),
    "step.failed": pgettext_lazy("event", "failed"),
    "step.unknown": pgettext_lazy("event", "outcome unknown"),
    "step.settled": pgettext_lazy("event", "outcome settled by a person"),
    "step.declined": pgettext_lazy("event", "not run"),
    "notification.sent": pgettext_lazy("event", "sent"),
    "notification.failed": pgettext_lazy("event", "could not be sent"),
}
