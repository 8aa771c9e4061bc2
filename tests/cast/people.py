"""Who plays: two tenants, the people of one with a role each, a stranger from the other, and keys."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tenants import founding, keys, members
from tenants.actors import COMMAND, Actor
from tenants.models import Member, Tenant
from tenants.scope import scope

PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Key:
    """A key's text, and the header a client sends with it."""

    text: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.text}"}


def make_tenant(slug: str, **values: str) -> Tenant:
    return founding.found(slug, actor=COMMAND, name=slug.title(), **values)


def make_member(tenant: Tenant, name: str, *roles: str) -> Member:
    with scope(tenant.pk):
        email = f"{name.lower()}@{tenant.slug}.example"
        return members.add(email, actor=COMMAND, roles=roles, name=name, password=PASSWORD)


def make_key(member: Member, *scopes: str, service: bool = False) -> Key:
    with scope(member.tenant_id):
        _key, text = keys.create(member, actor=actor(member), scopes=scopes, service=service)
    return Key(text)


def actor(member: Member) -> Actor:
    """The member as the one who acts."""
    return members.actor_of(member)


@pytest.fixture
def acme(db: None) -> Tenant:
    """The tenant where the story plays."""
    return make_tenant("acme")


@pytest.fixture
def globex(db: None) -> Tenant:
    """The other tenant."""
    return make_tenant("globex")


@pytest.fixture
def alice(acme: Tenant) -> Member:
    """A reviewer."""
    return make_member(acme, "Alice", "reviewer")


@pytest.fixture
def bo(acme: Tenant) -> Member:
    """A second reviewer."""
    return make_member(acme, "Bo", "reviewer")


@pytest.fixture
def mona(acme: Tenant) -> Member:
    """A manager."""
    return make_member(acme, "Mona", "manager")


@pytest.fixture
def ravi(acme: Tenant) -> Member:
    """An admin."""
    return make_member(acme, "Ravi", "admin")


@pytest.fixture
def stranger(globex: Tenant) -> Member:
    """A reviewer, manager and admin of the other tenant: whatever a stranger may be at home."""
    return make_member(globex, "Sam", "reviewer", "manager", "admin")


@pytest.fixture
def key_of() -> Callable[..., Key]:
    """Makes a key: `key_of(alice, "runs:read")`; without scopes it has them all."""

    def make(member: Member, *scopes: str, service: bool = False) -> Key:
        every = [each for each in keys.SCOPES if not (service and each == "approvals:decide")]
        return make_key(member, *(scopes or every), service=service)

    return make


@pytest.fixture
def alice_key(alice: Member, key_of: Callable[..., Key]) -> Key:
    """Alice's personal key with every scope."""
    return key_of(alice)


@pytest.fixture
def mona_key(mona: Member, key_of: Callable[..., Key]) -> Key:
    """Mona's personal key with every scope."""
    return key_of(mona)


@pytest.fixture
def ravi_key(ravi: Member, key_of: Callable[..., Key]) -> Key:
    """Ravi's personal key with every scope."""
    return key_of(ravi)


@pytest.fixture
def service_key(ravi: Member, key_of: Callable[..., Key]) -> Key:
    """A service key that Ravi owns, with every scope a service key may have."""
    return key_of(ravi, service=True)


@pytest.fixture
def stranger_key(stranger: Member, key_of: Callable[..., Key]) -> Key:
    """The stranger's key, with every scope at home."""
    return key_of(stranger)
