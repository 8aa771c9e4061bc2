"""Writes what requests have in common, once: the definition of the tool and what the rules demand."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from approvals import parts
from approvals.calls import ProposedCall
from approvals.models import ApprovalRequest, Wording
from approvals.requirements import Requirement
from tenants import exact_json, prepared
from tenants.scope import current


def word(request: ApprovalRequest, call: ProposedCall, requirement: Requirement) -> None:
    """Let a request that is about to be inserted refer to the wordings of its call and requirement; one statement."""
    form, request.own_requirement = parts.parted(requirement.as_json())
    request.worded, request.demanded = _keep(call.tool_definition, form)
    request.own_run = parts.own_run(call.run, subject=request.subject, ref=request.ref, agent=request.agent)


def demand(request: ApprovalRequest, requirement: Requirement) -> list[str]:
    """Let the request demand something else from now on; the fields to save. One statement."""
    form, request.own_requirement = parts.parted(requirement.as_json())
    (request.demanded,) = _keep(form)
    return ["requirement_digest", "own_requirement"]


def recall(request: ApprovalRequest) -> None:
    """Let a request that does not come through the ORM have its wordings; those this process has not read yet are
    read with one statement."""
    digests = [each for each in (request.definition_digest, request.requirement_digest) if each]
    found = {each: known for each in digests if (known := _known.get((current(), each)))}
    if missing := [each for each in digests if each not in found]:
        for digest, text in prepared.every(_RECALL, ([rf"\x{each}" for each in missing],)):
            found[digest.hex()] = _know(digest.hex(), text)
    if request.definition_digest in found:
        request.worded = found[request.definition_digest]
    if request.requirement_digest in found:
        request.demanded = found[request.requirement_digest]


_RECALL = """
SELECT w.digest, w.body::text FROM approvals_wording w
WHERE w.tenant_id = (SELECT app_tenant()) AND w.digest = ANY ($1::bytea[])
"""
_KEEP = """
INSERT INTO approvals_wording (tenant_id, digest, body)
SELECT app_tenant(), given.digest, given.body::jsonb
FROM (SELECT pg_advisory_xact_lock_shared(subject_key(app_tenant(), '#wordings'))) held,
  unnest($1::bytea[], $2::text[]) AS given(digest, body)
ON CONFLICT DO NOTHING RETURNING digest
"""
"""The shared lock keeps the purge from taking a row that is there already, until the request that refers to it is."""


_LENGTH = 32
"""Half of a SHA-256: enough to tell wordings apart. What runs is bound by the whole fingerprint in the wording."""


def _keep(*bodies: Mapping[str, Any]) -> list[Wording]:
    digests, texts = [exact_json.digest(body)[:_LENGTH] for body in bodies], [exact_json.dumps(body) for body in bodies]
    prepared.run(_KEEP, ([rf"\x{digest}" for digest in digests], texts))
    return [_know(digest, text) for digest, text in zip(digests, texts, strict=True)]


_MANY = 256
_known: dict[tuple[UUID, str], Wording] = {}
"""What this process has read of wordings: nobody changes one, and the many requests that share it share this."""


def _know(digest: str, text: str) -> Wording:
    key = current(), digest
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MANY:
            _known.clear()
        found = _known[key] = Wording(tenant_id=key[0], digest=digest, body=exact_json.loads(text))
    return found
