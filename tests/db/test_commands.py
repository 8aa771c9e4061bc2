"""The commands for scripts: what they print, what they refuse."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tenants import keys
from tenants.models import Member, Tenant
from tenants.scope import scope


def run(*words: str) -> str:
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue().strip()


def test_a_tenant_a_member_and_a_key_are_made(db: None) -> None:
    run("create_tenant", "initech", "--name", "Initech", "--timezone", "Europe/Berlin", "--locale", "zh-hans")
    tenant = Tenant.objects.get(slug="initech")
    assert (tenant.name, tenant.timezone, tenant.locale) == ("Initech", "Europe/Berlin", "zh-hans")
    run("create_member", "initech", "Peter@Initech.example", "--role", "reviewer", "--role", "admin", "--password", "p")
    text = run("create_key", "initech", "peter@initech.example", "--scope", "runs:start", "--scope", "runs:read")
    bearer = keys.verify(text)
    assert bearer is not None
    assert (bearer.tenant, bearer.scopes, bearer.service) == (tenant.pk, {"runs:read", "runs:start"}, False)
    assert bearer.actor.member == bearer.member.pk
    assert bearer.member.roles == ["reviewer", "admin"]


def test_without_a_password_an_invitation_is_printed(acme: Tenant) -> None:
    assert run("create_member", "acme", "new@acme.example", "--role", "manager").startswith("http://localhost")


def test_a_service_key_acts_for_itself(acme: Tenant, ravi: Member) -> None:
    bearer = keys.verify(run("create_key", "acme", ravi.email, "--scope", "runs:start", "--service", "nightly"))
    assert bearer is not None
    assert (bearer.service, bearer.actor.name, bearer.actor.member) == (True, "nightly", None)


@pytest.mark.parametrize(
    "words",
    [
        ("create_tenant", "acme"),
        ("create_tenant", "Not A Slug"),
        ("create_tenant", "ok", "--timezone", "Mars/Olympus"),
        ("create_tenant", "ok", "--locale", "tlh"),
        ("create_member", "nowhere", "a@b.example", "--role", "admin"),
        ("create_member", "acme", "a@b.example", "--role", "king"),
        ("create_member", "acme", "a@b.example"),
        ("create_key", "acme", "nobody@acme.example", "--scope", "runs:read"),
        ("create_key", "acme", "alice@acme.example", "--scope", "runs:everything"),
        ("create_key", "acme", "alice@acme.example", "--scope", "approvals:decide", "--service", "bot"),
        ("verify_audit", "nowhere"),
    ],
)
def test_what_cannot_be_done_is_said(acme: Tenant, alice: Member, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run(*words)


def test_the_audit_of_all_tenants_is_verified(acme: Tenant, globex: Tenant, alice: Member) -> None:
    out = run("verify_audit")
    assert "acme: proved up to entry 2," in out
    assert "globex: proved up to entry 1," in out


def test_a_key_names_its_tenant_and_tells_its_secret_nowhere(acme: Tenant, alice: Member) -> None:
    text = run("create_key", "acme", alice.email, "--scope", "runs:read")
    with scope(acme.pk):
        row = alice.keys.get()
    assert text.rpartition("_")[2] not in str(vars(row))
    assert keys.verify(text[:-1] + ("0" if text[-1] != "0" else "1")) is None
