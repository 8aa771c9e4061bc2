"""What the floor above needs to know of the newest request of each step of a subject."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from approvals import parts, requirements, texts
from approvals.models import Review
from approvals.requirements import Requirement
from approvals.reviewers import Given
from tenants import exact_json, prepared


@dataclass(frozen=True)
class RequestView:
    """A step's latest request; `arguments` and `digest` are those of the version that stands.

    `text` is what the model reads in the call's place, empty while it may still run; `voters` are the members whose
    approvals of that version were counted, none where silence approved it; `given` is what their rights hang on.
    """

    id: UUID
    ref: str
    status: str
    version: int
    round: int
    arguments: str
    digest: str
    decision: str
    comment: str
    response: str
    text: str
    edited_fields: tuple[str, ...]
    deadline: datetime
    requirement: Requirement
    fingerprint: str
    precondition: str | None
    voters: tuple[UUID, ...]
    given: Given


@dataclass(frozen=True)
class Look:
    """The requests of a subject by `ref`, with the tenant's stamp and the database's time, as of one statement."""

    stamp: int
    now: datetime
    views: Mapping[str, RequestView]


READ = """
SELECT t.stamp, clock_timestamp(), r.id, r.ref, r.status, r.version, r.round, v.arguments, v.digest, r.decision,
  r.comment, r.response, r.deadline, r.requirement::text, demanded.body::text,
  coalesce(nullif(r.fingerprint, ''), worded.body->>'fingerprint', ''), r.precondition,
  r.agent, r.risk, r.escalation_level, r.initiators,
  ARRAY(SELECT f.name FROM approvals_requestversion w, unnest(w.edited_fields) WITH ORDINALITY AS f(name, place)
    WHERE w.tenant_id = t.id AND w.request_id = r.id ORDER BY w.number, f.place),
  (SELECT json_agg(json_build_array(w.member_id, w.in_place_of_id, w.decision) ORDER BY w.at, w.id)
    FROM approvals_review w WHERE w.tenant_id = t.id AND w.request_id = r.id AND w.version = r.version)::text,
  (SELECT json_agg(json_build_array(m.before_id, m.after_id) ORDER BY m.at, m.id)
    FROM approvals_reassignment m WHERE m.tenant_id = t.id AND m.request_id = r.id)::text
FROM tenants_tenant t
LEFT JOIN LATERAL (SELECT DISTINCT ON (q.ref) q.* FROM approvals_approvalrequest q
  WHERE q.tenant_id = t.id AND q.subject = $1::text ORDER BY q.ref, q.opened_at DESC, q.id DESC) r ON true
LEFT JOIN approvals_wording worded ON worded.tenant_id = t.id AND worded.digest = r.definition_digest
LEFT JOIN approvals_wording demanded ON demanded.tenant_id = t.id AND demanded.digest = r.requirement_digest
LEFT JOIN approvals_requestversion v ON v.tenant_id = t.id AND v.request_id = r.id AND v.number = r.version
WHERE t.id = (SELECT app_tenant())
"""


def look(subject: str) -> Look:
    """The newest request of each step of the subject, as they are now; one statement."""
    return told(prepared.every(READ, (subject,)))


def told(rows: Sequence[Sequence[Any]]) -> Look:
    """What the rows say that `READ` gives of a subject."""
    stamp, now = rows[0][:2]
    return Look(stamp, now, {row[3]: _view(row[2:]) for row in rows if row[2] is not None})


def latest(subject: str) -> dict[str, RequestView]:
    """The newest request of each step of the subject, by `ref`."""
    return dict(look(subject).views)


def _view(row: Sequence[Any]) -> RequestView:
    key, ref, status, version, round_, arguments, digest, decision, comment, response = row[:10]
    deadline, own, form, fingerprint, precondition, agent, risk, level, initiators, fields, reviews, moves = row[10:]
    answers = [_review(key, version, each) for each in _listed(reviews)]
    text = texts.of_decision(status, comment=comment, response=response)
    return RequestView(
        id=key,
        ref=ref,
        status=status,
        version=version,
        round=round_,
        arguments=arguments,
        digest=digest,
        decision=decision,
        comment=comment,
        response=response,
        text=texts.cancelled(comment) if status == "cancelled" else text,
        edited_fields=tuple(dict.fromkeys(fields)),
        deadline=deadline,
        requirement=_requirement(own, form),
        fingerprint=fingerprint,
        precondition=precondition,
        voters=tuple(dict.fromkeys(each.member_id for each in answers if each.decision in ("approve", "edit"))),
        given=Given(
            agent=agent,
            risk=risk,
            level=level,
            initiators=frozenset(initiators),
            moves=tuple((UUID(before), UUID(after)) for before, after in _listed(moves)),
            reviews=tuple(answers),
        ),
    )


@lru_cache(1024)
def _requirement(own: str | None, form: str | None) -> Requirement:
    """What the rules demand, of a row that shares it and of one from before."""
    read: Any = exact_json.loads(own) if own else None
    return requirements.from_json(parts.joined(exact_json.loads(form), read) if form else read)


def _listed(text: str | None) -> list[Any]:
    return list(exact_json.loads(text)) if text else []


def _review(request: UUID, version: int, row: Sequence[Any]) -> Review:
    member, in_place_of, decision = row
    return Review(
        request_id=request,
        version=version,
        member_id=UUID(member),
        in_place_of_id=UUID(in_place_of) if in_place_of else None,
        decision=decision,
    )
