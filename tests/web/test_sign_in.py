"""Signing in: by invitation only, and every attempt on a known person is in the audit of each of their tenants."""

import logging
import re
from email import message_from_bytes
from email.policy import default
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.mail import EmailMessage
from django.test import Client, override_settings

from tenants import ids, members
from tenants.actors import COMMAND
from tenants.models import AuditEntry, Member, Person, Tenant
from tenants.scope import scope
from tests.cast.people import PASSWORD


def entries(tenant: Tenant, action: str) -> list[AuditEntry]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.filter(action=action))


def sign_in(email: str, password: str) -> tuple[Client, int]:
    client = Client()
    response = client.post("/accounts/login/", {"login": email, "password": password})
    return client, response.status_code


def test_a_member_signs_in_however_the_address_is_capitalised(acme: Tenant, alice: Member) -> None:
    client, status = sign_in("ALICE@acme.example", PASSWORD)
    assert status == 302
    assert client.session["_auth_user_id"] == str(alice.person_id)
    assert [entry.actor_id for entry in entries(acme, "person.signed_in")] == [str(alice.person_id)]


def test_signing_in_says_nothing_in_the_language_of_another_page(acme: Tenant, alice: Member) -> None:
    client, _status = sign_in(alice.email, PASSWORD)
    assert "Successfully" not in client.get("/t/acme/inbox/").content.decode()


def test_a_failed_sign_in_is_in_the_audit_of_every_tenant_of_the_person(
    acme: Tenant, globex: Tenant, alice: Member
) -> None:
    with scope(globex.pk):
        members.add(alice.email, actor=COMMAND, roles=["reviewer"])
    _client, status = sign_in(alice.email, "wrong")
    assert status == 200
    for tenant in (acme, globex):
        found = entries(tenant, "person.sign_in_failed")
        assert [(entry.actor_kind, entry.target, entry.refused) for entry in found] == [
            ("anonymous", f"person:{alice.person_id}", True)
        ]


def test_an_unknown_address_is_in_the_log_alone(acme: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        sign_in("nobody@nowhere.example", "wrong")
    assert "address nobody has" in caplog.text
    assert "nobody@nowhere.example" not in caplog.text
    assert not entries(acme, "person.sign_in_failed")


def test_nobody_signs_up(acme: Tenant) -> None:
    wish = {"email": "new@acme.example", "password1": PASSWORD, "password2": PASSWORD}
    Client().post("/accounts/signup/", wish)
    assert not Person.objects.filter(email="new@acme.example").exists()


def test_an_invited_person_chooses_a_password_once_and_comes_in(acme: Tenant) -> None:
    with scope(acme.pk):
        member = members.add("new@acme.example", actor=COMMAND, roles=["reviewer"])
    link = members.invitation(member.person)
    path = re.sub(r"^https?://[^/]+", "", link)
    client = Client()
    form = client.get(path, follow=True)
    assert form.status_code == 200
    chosen = {"password1": "a long enough choice", "password2": "a long enough choice"}
    assert client.post(form.redirect_chain[-1][0], chosen).status_code == 302
    assert sign_in("new@acme.example", "a long enough choice")[1] == 302
    assert Client().get(path, follow=True).redirect_chain == []


def test_too_many_failures_say_when_to_try_again(acme: Tenant) -> None:
    client = Client()
    for _attempt in range(6):
        sent = {"login": "guesses@acme.example", "password": "wrong wrong wrong"}
        page = client.post("/accounts/login/", sent).text
    assert "Too many failed attempts to sign in. Try again in 5 min." in page


def test_the_mail_of_a_forgotten_password_has_a_subject_that_every_program_reads(
    alice: Member, mailoutbox: list[EmailMessage]
) -> None:
    client = Client(headers={"accept-language": "zh-hans"})
    with override_settings(ACCOUNT_EMAIL_SUBJECT_PREFIX="[朱批审批台 vermilion.example] "):
        assert client.post("/accounts/password/reset/", {"email": alice.email}).status_code == 302
    (sent,) = mailoutbox
    read = message_from_bytes(sent.message().as_bytes(linesep="\r\n"), policy=default)["subject"]
    assert str(read) == sent.subject
    assert re.search("密码", str(read))


def test_each_language_is_offered_in_its_own_name(acme: Tenant) -> None:
    page = Client(headers={"accept-language": "zh-hans"}).get("/accounts/login/").text
    assert ">English</button>" in page
    assert ">简体中文</button>" in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("told", "page"),
    [
        ("http://testserver/t/acme/requests/{id}/edit/", "/t/acme/requests/{id}/edit/"),
        ("http://testserver/t/acme/requests/{id}/decide/", "/t/acme/requests/{id}/"),
        ("http://testserver/t/acme/inbox/?risk=high", "/t/acme/inbox/?risk=high"),
        ("https://elsewhere.example/t/acme/inbox/", "/t/acme/requests/{id}/"),
        ("http://testserver//elsewhere.example/t/", "/t/acme/requests/{id}/"),
        ("http://testserver/accounts/logout/", "/t/acme/requests/{id}/"),
        ("", "/t/acme/requests/{id}/"),
    ],
)
def test_what_is_sent_without_a_session_leads_back_to_its_page_and_is_said_to_be_lost(told: str, page: str) -> None:
    key, client = ids.new(), Client()
    path, back = f"/t/acme/requests/{key}/decide/", page.format(id=key)
    headers = {"Referer": told.format(id=key)} if told else {}
    response = client.post(path, {"decision": "approve", "version": "1"}, headers=headers)
    target = urlsplit(response["Location"])
    assert target.path == "/accounts/login/"
    assert parse_qs(target.query)["next"] == [back]
    assert "What you sent was not received" in client.get(response["Location"]).text
    assert "What you sent" not in client.get(f"/accounts/login/?next={back}").text
