"""Writes what requests have in common, once: the definition of the tool and what the rules demand."""

from collections.abc import Mapping
from functools import lru_cache
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


BESIDE = tuple(
    "(SELECT w.body::text FROM approvals_wording w"  # noqa: S608  # All ours.
    f" WHERE w.tenant_id = r.tenant_id AND w.digest = r.{digest})"
    for digest in ("definition_digest", "requirement_digest")
)
"""What is read beside a row `r` that does not come through the ORM, for `read`."""


def read(request: ApprovalRequest, definition: str | None, requirement: str | None) -> None:
    """Let the request have its wordings as they were read beside it."""
    if definition is not None:
        request.worded = _wording(request.definition_digest, definition)
    if requirement is not None:
        request.demanded = _wording(request.requirement_digest, requirement)


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
    return [_wording(digest, text) for digest, text in zip(digests, texts, strict=True)]


def _wording(digest: str | None, text: str) -> Wording:
    return _read(current(), digest, text)


@lru_cache(128)
def _read(tenant: UUID, digest: str | None, text: str) -> Wording:
    """The many requests that share a wording share what was read of it: nobody changes it."""
    return Wording(tenant_id=tenant, digest=digest, body=exact_json.loads(text))
