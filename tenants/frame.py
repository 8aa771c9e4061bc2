"""What surrounds every operation of the API: the key, the tenant's scope, keys for repeating, refusals."""

import asyncio
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase

from tenants import bearer, idempotency, problems, refused
from tenants.idempotency import Answer, Claim
from tenants.keys import Bearer
from tenants.refusals import Refusal
from tenants.scope import scope

View = TypeVar("View", bound=Callable[..., Any])
Run = Callable[..., HttpResponseBase]


def short_scopes(view: View) -> View:
    """Mark a GET that opens its own short scopes: an export, a stream, a long poll."""
    view.short_scopes = True  # type: ignore[attr-defined]
    return view


def keys_items(view: View) -> View:
    """Mark a POST that keeps an answer for each of its items, by `once_for_item`, not one for the whole."""
    view.keys_items = True  # type: ignore[attr-defined]
    return view


def framed(run: Any) -> Any:
    """Ninja's decorator in mode "view": put the frame around an operation's whole run."""
    operation = run.__self__
    if asyncio.iscoroutinefunction(run):
        return _framed_async(run)

    @wraps(run)
    def framed_run(request: Any, **path: Any) -> HttpResponseBase:
        try:
            return _answer(operation, run, request, path)
        except Exception as error:  # Ninja's handlers know what to make of each.
            return operation.api.on_exception(request, error)  # type: ignore[no-any-return]

    return framed_run


def once_for_item(request: Any, item: str, body: Any, work: Callable[[], Answer]) -> Answer:
    """Do one item of a bulk request in a transaction of its own, once under the request's key and `item`."""
    with scope(request.bearer.tenant):
        key = request.headers.get("Idempotency-Key")
        if key is None:
            return work()
        return idempotency.once(_claim(request, f"{item} {idempotency.demand_key(key)}", body), work)


def _framed_async(run: Any) -> Any:
    @wraps(run)
    async def framed_run(request: Any, **path: Any) -> HttpResponseBase:
        await sync_to_async(_read_key)(request)
        return await run(request, **path)  # type: ignore[no-any-return]

    return framed_run


def _answer(operation: Any, run: Run, request: Any, path: dict[str, Any]) -> HttpResponseBase:
    found = _read_key(request)
    if found is None:
        return run(request, **path)
    view = operation.view_func
    if request.method in ("GET", "HEAD"):
        if getattr(view, "short_scopes", False):
            return run(request, **path)
        with scope(found.tenant, read_only=True):
            return run(request, **path)
    whole = request.method == "POST" and not getattr(view, "keys_items", False)
    response = _once(run, request, path) if whole else run(request, **path)
    refused.record(request, response, tenant=found.tenant, actor=found.actor, channel="api")
    return response


def _read_key(request: Any) -> Bearer | None:
    found = bearer.read(request)
    request.bearer = found
    request.refusal = None
    if found is not None:
        request.actor, request.member = found.actor, found.member
    return found


def _once(run: Run, request: Any, path: dict[str, Any]) -> HttpResponseBase:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return run(request, **path)

    def work() -> Answer:
        response = run(request, **path)
        assert isinstance(response, HttpResponse)
        kept.append(response)
        return Answer(response.status_code, response.content.decode())

    kept: list[HttpResponse] = []
    try:
        claim = _claim(request, idempotency.demand_key(key), None)
        with scope(request.bearer.tenant):
            answer = idempotency.once(claim, work)
    except Refusal as refusal:
        request.refusal = refusal
        return problems.of(refusal)
    return kept[0] if kept else _replay(answer)


def _claim(request: Any, key: str, body: Any) -> Claim:
    digest = idempotency.digest(request.body) if body is None else idempotency.digest_of(body)
    return Claim(actor=request.actor, method=request.method, path=request.get_full_path(), key=key, body_digest=digest)


def _replay(answer: Answer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status, content_type="application/json")
    response["Idempotency-Replayed"] = "true"
    return response
