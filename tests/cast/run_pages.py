"""A browser without script at the pages of runs: it reads, and sends forms with their token."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from tenants.models import Member
from tests.cast.plays import Play

Plays = Callable[..., Play]
Enters = Callable[[Member], Client]


@pytest.fixture
def enter() -> Enters:
    """A client in which this member is signed in; forms need their token."""

    def make(member: Member) -> Client:
        client = Client(enforce_csrf_checks=True)
        client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    return make


def read(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, response.content
    return unescape(response.content.decode())


def send(client: Client, path: str, **fields: str) -> Any:
    """POST a form with the token that its page carried."""
    client.get("/t/acme/runs/")
    token = client.cookies["csrftoken"].value if "csrftoken" in client.cookies else ""
    return client.post(path, {**fields, "csrfmiddlewaretoken": token})


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def url(play: Play, verb: str = "") -> str:
    return f"/t/acme/runs/{play.id}/{verb}"
