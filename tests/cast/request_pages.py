"""A member's browser at the page of a request, and what it reads there."""

import re
from typing import Any

from django.test import Client

from approvals.models import ApprovalRequest
from tenants.models import Member

LONG = "A long story. " * 1_500


def browser(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def url(request: ApprovalRequest, path: str = "") -> str:
    return f"/t/acme/requests/{request.pk}/{path}"


def text(response: Any) -> str:
    return str(response.content.decode())


def answer(client: Client, request: ApprovalRequest, decision: str, version: int = 1, **fields: str) -> Any:
    return client.post(url(request, "decide/"), {"decision": decision, "version": str(version), **fields})


def plain(response: Any) -> str:
    """The words of a page without its markup."""
    return " ".join(re.sub(r"<[^>]+>", "", text(response)).split())
