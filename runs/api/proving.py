"""One file that tells a run's whole story: a line of JSON for each thing that is kept of it, the last one a seal.

The seal signs the digest of every byte before it, so that the file proves itself without this installation.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from approvals.api import recording
from runs import access, askings, telling
from runs.api.answers import event_answer, run_answer, step_answer
from runs.api.routing import router
from runs.models import Payload, Run, Step
from runs.states import TOOL_CALL
from runs.telling import Detail
from tenants import audit_part, events, ids, signing, streaming, wire
from tenants.actors import Actor
from tenants.bearer import demand
from tenants.frame import short_scopes
from tenants.models import Event, Member
from tenants.refusals import not_found
from tenants.requests import KeyRequest
from tenants.scope import scope

FORMAT = "vermilion run proof 1"
BATCH = 100
Line = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Who asks for the file. `whole`: an admin, who reads all of it; others read what they may read elsewhere."""

    member: Member
    actor: Actor
    whole: bool


@router.get("/runs/{run_id}/proof", summary="Download the whole record of a run, which proves itself")
@short_scopes
def read_proof(request: KeyRequest, run_id: str) -> HttpResponseBase:
    """The record as lines of JSON, sealed. An admin's key with `audit:read` gets that of any run, with its audit."""
    bearer = request.bearer
    whole = bearer is not None and "audit:read" in bearer.scopes and bearer.member.has("admin")
    bearer = demand(request, "audit:read" if whole else "runs:read")
    return download(ids.parse(run_id), Reader(member=bearer.member, actor=bearer.actor, whole=whole))


def download(run_id: UUID | None, reader: Reader) -> HttpResponseBase:
    """The file; Refusal 404 for a run that this reader may not have."""
    with scope(reader.member.tenant_id, read_only=True):
        run = _run(run_id, reader)
    return streaming.attachment(sealed(run, reader), name=f"run-{run.id}.proof", form="ndjson")


def sealed(run: Run, reader: Reader) -> Iterator[str]:
    """The lines of the file, each with its end; the last signs the digest of all bytes before it."""
    digest, count = hashlib.sha256(), 0
    for line in _lines(run, reader):
        text = wire.text(line) + "\n"
        digest.update(text.encode())
        count += 1
        yield text
    statement = f"{run.tenant_id} {run.id} {count} {digest.hexdigest()}"
    seal = {"kind": "seal", "lines": count, "sha256": digest.hexdigest(), "public_key": signing.public_key()}
    yield wire.text({**seal, "signature": signing.seal("run-proof", statement)}) + "\n"


def _run(run_id: UUID | None, reader: Reader) -> Run:
    if not reader.whole:
        return access.found(reader.member, run_id)
    run = Run.objects.filter(id=run_id).first() if run_id else None
    if run is None:
        raise not_found(_("There is no such run."))
    return run


def _lines(run: Run, reader: Reader) -> Iterator[Line]:
    tenant, subject = run.tenant_id, askings.subject(run.id)
    yield _header(run, reader)
    with scope(tenant, read_only=True):
        yield {"kind": "run", **run_answer(run, telling.brief([run], texts=True)), "started_by": run.started_by}
        about = [_payload(each) for each in Payload.objects.filter(run=run).order_by("created_at", "id")]
        about += recording.lines(subject, reader=None if reader.whole else reader.member)
    yield from _steps(run)
    yield from _events(tenant, subject)
    yield from about
    if reader.whole:
        requests = [f"request:{each['id']}" for each in about if each["kind"] == "request"]
        yield from audit_part.part(tenant, [subject, *requests])


def _header(run: Run, reader: Reader) -> Line:
    return {
        "kind": "header",
        "format": FORMAT,
        "tenant": run.tenant_id,
        "run": run.id,
        "made_at": timezone.now(),
        "made_for": reader.actor.as_json(),
        "left_out": [] if reader.whole else ["the audit", "requests that the reader may not read"],
    }


def _steps(run: Run) -> Iterator[Line]:
    seq = 0
    while True:
        with scope(run.tenant_id, read_only=True):
            found = list(telling.steps_of(run.id).filter(seq__gt=seq)[:BATCH])
            detail, settled = telling.detail(run, found), telling.settled(run.id)
            told = [_step(each, detail, settled) for each in found]
        if not told:
            return
        yield from told
        seq = found[-1].seq


def _step(step: Step, detail: Detail, settled: Mapping[int, Event]) -> Line:
    answer = step_answer(step, detail, settled)
    tries = detail.attempts.get(step.seq, ())
    more = [{"fence": each.fence, "key": each.key or None, "not_done": each.not_done} for each in tries]
    return {
        "kind": "step",
        "step": answer.pop("kind"),
        **answer,
        "digest_keyed": bool(detail.tools.get(step.tool, {}).get("sensitive")),
        "effect": step.effect or None,
        "turn": step.turn if step.kind == TOOL_CALL else None,
        "call_id": step.call_id or None,
        "generation": step.generation,
        "attempts": [one | other for one, other in zip(answer["attempts"], more, strict=True)],
    }


def _events(tenant: UUID, subject: str) -> Iterator[Line]:
    seq = 0
    while True:
        with scope(tenant, read_only=True):
            found = events.after(subject, seq, BATCH)
        if not found:
            return
        for row in found:
            yield {"kind": "event", **event_answer(row)}
        seq = found[-1].seq


def _payload(row: Payload) -> Line:
    return {
        "kind": "payload",
        "id": row.id,
        "sha256": row.digest,
        "size": row.size,
        "media_type": row.media_type,
        "created_at": row.created_at,
    }
