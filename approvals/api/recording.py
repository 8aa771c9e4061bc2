"""The requests of one subject for its whole record: versions, votes, views, comments, and the rules that asked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

from approvals import access, facts
from approvals.api import shapes
from approvals.facts import Facts
from approvals.models import (
    ApprovalRequest,
    PolicyVersion,
    Reassignment,
    RequestComment,
    RequestVersion,
    Review,
    Viewing,
)
from approvals.rosters import Roster, roster
from tenants import ids
from tenants.models import Member

Line = dict[str, Any]


def lines(subject: str, *, reader: Member | None) -> list[Line]:
    """The requests, oldest first, then every version of a rule that their traces name; needs a scope.

    Of what `reader` may read; None reads all. Sensitive arguments are masked.
    """
    rows = ApprovalRequest.objects.all() if reader is None else access.readable(reader)
    requests = list(rows.filter(subject=subject).order_by("opened_at", "id"))
    names = roster()
    beside = _beside(requests, names)
    told = [_request(each, names, beside) for each in facts.of(requests, names)]
    return told + _rules(requests)


def _request(found: Facts, names: Roster, beside: Mapping[Any, Line]) -> Line:
    row = found.request
    reviews = [_review(each, found, names) for each in found.reviews]
    return {
        "kind": "request",
        **shapes.request(found, names),
        "digest_keyed": bool(row.definition.get("sensitive")),
        "definition": row.definition,
        "versions": [_version(each, row, names) for each in found.versions],
        "reviews": reviews,
        **beside[row.pk],
    }


def _version(each: RequestVersion, row: ApprovalRequest, names: Roster) -> Line:
    return {
        "number": each.number,
        "title": each.title,
        "arguments": shapes.arguments(each.arguments, row),
        "digest": each.digest,
        "edited_by": each.edited_by_id,
        "edited_by_name": names.name(each.edited_by_id) if each.edited_by_id else None,
        "edited_fields": each.edited_fields,
        "comment": each.comment,
        "created_at": each.created_at,
    }


def _review(each: Review, found: Facts, names: Roster) -> Line:
    return {**shapes.review(each, found, names), "response": each.response or None, "actor": each.actor}


def _beside(requests: Sequence[ApprovalRequest], names: Roster) -> dict[Any, Line]:
    """Who had the question on the screen, what was said beside it, and who was put in whose place."""
    keys = [row.pk for row in requests]
    found: dict[Any, Line] = {key: {"viewings": [], "comments": [], "reassignments": []} for key in keys}
    for viewing in Viewing.objects.filter(request__in=keys).order_by("since", "id"):
        said = {"member": viewing.member_id, "name": names.name(viewing.member_id), "version": viewing.version}
        found[viewing.request_id]["viewings"].append({**said, "since": viewing.since, "last": viewing.last})
    for comment in RequestComment.objects.filter(request__in=keys).order_by("at", "id"):
        said = {"actor": comment.actor, "text": comment.text, "at": comment.at}
        found[comment.request_id]["comments"].append(said)
    for moved in Reassignment.objects.filter(request__in=keys).order_by("at", "id"):
        said = {"from": moved.before_id, "to": moved.after_id, "comment": moved.comment, "at": moved.at}
        found[moved.request_id]["reassignments"].append(said)
    return found


def _rules(requests: Iterable[ApprovalRequest]) -> list[Line]:
    named = {
        (key, int(trace["version"]))
        for row in requests
        for trace in row.requirement.get("trace", ())
        if (key := ids.parse(trace["rule"]))
    }
    if not named:
        return []
    wanted = Q()
    for key, number in named:
        wanted |= Q(rule=key, number=number)
    return [
        _rule(each) for each in PolicyVersion.objects.filter(wanted).select_related("rule").order_by("rule", "number")
    ]


def _rule(each: PolicyVersion) -> Line:
    return {
        "kind": "rule",
        "id": each.rule_id,
        "name": each.rule.name,
        "version": each.number,
        "body": each.body,
        "note": each.note,
        "author": each.author,
        "created_at": each.created_at,
    }
