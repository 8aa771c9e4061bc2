"""From an address to a tenant: membership alone opens it, a GET changes nothing, a refusal is entered."""

import pytest
from django.test import Client

from tenants.models import AuditEntry, Group, Member, Tenant
from tenants.scope import scope

pytestmark = pytest.mark.urls("tests.web.probe_urls")


def signed_in(member: Member) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def test_a_lazy_page_is_rendered_inside_the_scope(alice: Member, stranger: Member) -> None:
    text = signed_in(alice).get("/t/acme/lazy/").content.decode()
    assert alice.email in text
    assert stranger.email not in text


def test_a_foreign_tenant_answers_like_one_that_does_not_exist(alice: Member, stranger: Member) -> None:
    client = signed_in(alice)
    for method in ("get", "post", "delete"):
        foreign, unknown = getattr(client, method)("/t/globex/lazy/"), getattr(client, method)("/t/nowhere/lazy/")
        assert (foreign.status_code, unknown.status_code) == (404, 404)
        assert foreign.content.replace(b"globex", b"") == unknown.content.replace(b"nowhere", b"")


def test_who_is_not_signed_in_is_led_to_the_sign_in(acme: Tenant) -> None:
    response = Client().get("/t/acme/lazy/")
    assert response.status_code == 302
    assert response.headers["Location"] == "/accounts/login/?next=/t/acme/lazy/"
    part = Client().get("/t/acme/lazy/", headers={"HX-Request": "true"})
    assert part.headers["HX-Redirect"].startswith("/accounts/login/")


def test_a_get_cannot_write(acme: Tenant, alice: Member) -> None:
    assert signed_in(alice).get("/t/acme/writes/").status_code == 500
    with scope(acme.pk):
        assert not Group.objects.exists()


def test_a_member_who_left_finds_nothing(acme: Tenant, alice: Member) -> None:
    client = signed_in(alice)
    assert client.get("/t/acme/lazy/").status_code == 200
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(active=False)
    assert client.get("/t/acme/lazy/").status_code == 404


def test_a_refused_post_is_a_page_and_an_entry(acme: Tenant, alice: Member) -> None:
    client = signed_in(alice)
    response = client.post("/t/acme/refuses/")
    assert response.status_code == 409
    assert "Bo approved it two minutes ago." in response.content.decode()
    assert client.get("/t/acme/refuses/").status_code == 409
    with scope(acme.pk):
        entry = AuditEntry.objects.get(action="request.refused")
    assert (entry.target, entry.refused, entry.channel) == ("request:1", True, "page")
    assert entry.actor_id == str(alice.person_id)


def test_language_and_zone_are_the_members_then_the_tenants(acme: Tenant, alice: Member) -> None:
    Tenant.objects.filter(pk=acme.pk).update(timezone="Europe/Berlin", locale="zh-hans")
    client = signed_in(alice)
    assert client.get("/t/acme/shows/").content.decode() == f"zh-hans Europe/Berlin {alice.pk}"
    with scope(acme.pk):
        Member.objects.filter(pk=alice.pk).update(timezone="Asia/Tokyo", locale="en")
    assert client.get("/t/acme/shows/").content.decode() == f"en Asia/Tokyo {alice.pk}"


def test_a_nul_in_the_address_is_refused(alice: Member) -> None:
    assert signed_in(alice).get("/t/acme/lazy/?q=%00").status_code == 400
