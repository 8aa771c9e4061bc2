"""Pages of people who are signed in already."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Page

from tenants.models import Member
from tests.harness.browser import WIDE
from tests.harness.live import LiveServer

OpenAs = Callable[..., Page]


@pytest.fixture
def open_as(new_page: Callable[..., Page], live_server: LiveServer) -> OpenAs:
    """`open_as(alice, "/t/acme/inbox/")`: a page in a browser of that member's own."""

    def make(member: Member, path: str, viewport: dict[str, int] = WIDE, **options: Any) -> Page:
        client = Client()
        client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
        page = new_page(viewport, **options)
        cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
        page.context.add_cookies([cookie])  # type: ignore[list-item]
        page.goto(path)
        return page

    return make
