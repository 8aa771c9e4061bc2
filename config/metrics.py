"""Numbers over all tenants in Prometheus's text format: what runs, what waits, what is late."""

import hmac

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from runs.states import UNFINISHED
from tenants import doors

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
WORDS = {
    "runs": "Unfinished runs, by state",
    "approval_requests_pending": "Approval requests that wait for people",
    "deliveries_pending": "Notifications that have not left yet",
    "deliveries_given_up": "Notifications of the last 24 hours that were tried and given up, by transport",
    "steps_unknown": "Tool calls whose outcome a person has to settle",
    "leases_held": "Runs that a worker holds now",
    "overdue": "What is due and has not been taken up, by kind",
    "overdue_seconds": "How long the oldest of it has been due, in seconds, by kind",
}
TRANSPORTS = ("email", "webhook", "chat")
LABELLED = ("runs", "deliveries_given_up", "overdue", "overdue_seconds")
KINDS = ("runs", "approval_requests", "deliveries")


def metrics(request: HttpRequest) -> HttpResponse:
    """The numbers; 401 where METRICS_TOKEN is set and the request does not carry it."""
    if not allowed(request):
        return HttpResponse(
            "Send METRICS_TOKEN as a bearer token.\n", status=401, headers={"WWW-Authenticate": "Bearer"}
        )
    return HttpResponse(exposition(doors.counts()), content_type=MEDIA_TYPE)


def allowed(request: HttpRequest) -> bool:
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    given = request.headers.get("Authorization", "")
    return not settings.METRICS_TOKEN or hmac.compare_digest(given.encode(), wanted.encode())


def exposition(counts: dict[str, int]) -> str:
    """The page for these numbers; what is not among them is 0."""
    samples = {
        "runs": [(f'{{state="{state}"}}', counts.get(f"runs_{state}", 0)) for state in sorted(UNFINISHED)],
        "deliveries_given_up": [
            (f'{{transport="{each}"}}', counts.get(f"deliveries_given_up_{each}", 0)) for each in TRANSPORTS
        ],
        **{name: [("", counts.get(name, 0))] for name in WORDS if name not in LABELLED},
        **{
            late: [(f'{{kind="{kind}"}}', counts.get(f"{kind}_{late}", 0)) for kind in KINDS]
            for late in ("overdue", "overdue_seconds")
        },
    }
    return "".join(_metric(name, samples[name]) for name in WORDS)


def _metric(name: str, samples: list[tuple[str, int]]) -> str:
    full = f"vermilion_{name}"
    lines = [f"# HELP {full} {WORDS[name]}", f"# TYPE {full} gauge", *(f"{full}{label} {n}" for label, n in samples)]
    return "\n".join(lines) + "\n"
