"""The callback door, below /api/v1 and at /callbacks/: no key, the message's own signature opens it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from ninja import Router

from approvals import callbacks
from approvals.decisions import Decided
from tenants import problems, wire
from tenants.refusals import Refusal

router = Router(tags=["callbacks"])
MOST_BYTES = 65_536
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["request", "version", "decision", "user"],
                    "properties": {
                        "request": {"type": "string", "format": "uuid"},
                        "version": {"type": "integer"},
                        "decision": {"type": "string"},
                        "user": {"type": "string"},
                        "comment": {"type": "string"},
                    },
                }
            }
        },
    }
}


@router.post(
    "/callbacks/{tenant}/{channel}",
    auth=None,
    response={201: Any},
    openapi_extra=BODY,
    summary="Answer a request from a chat service",
)
def receive(request: HttpRequest, tenant: str, channel: str) -> HttpResponse:
    """Signed by Standard Webhooks with the channel's secret, at most five minutes old, used once."""
    return _answer(request, tenant, channel)


@csrf_exempt
@require_POST
def door(request: HttpRequest, tenant: str, channel: str) -> HttpResponse:
    """The same door without the prefix of the API."""
    return _answer(request, tenant, channel)


def _answer(request: HttpRequest, tenant: str, channel: str) -> HttpResponse:
    told = request.headers.get("Content-Length", "")
    if (told.isdecimal() and int(told[:20]) > MOST_BYTES) or len(request.body) > MOST_BYTES:
        return problems.problem(413)
    try:
        done = callbacks.receive(tenant, channel, headers=request.headers, body=request.body)
    except Refusal as refusal:
        return problems.of(refusal)
    return HttpResponse(wire.text(_shape(done)), status=201, content_type="application/json")


def _shape(done: Decided) -> dict[str, Any]:
    """What became of the request: no more than the one who answered must know."""
    return {
        "request": {
            "id": done.request.pk,
            "status": done.request.status,
            "version": done.request.version,
            "approvals_given": done.approvals_given,
            "approvals_needed": done.approvals_needed,
        },
        "review": {"decision": done.review.decision, "version": done.review.version, "at": done.review.at},
    }
