"""A stranger from another tenant walks every route and every topic, and finds nothing anywhere."""

import uuid
from datetime import timedelta
from functools import partial
from itertools import product
from typing import Any

import pytest
from django.test import Client

from approvals import channel_people, channels, clock, rotations
from tenants import groups, topics
from tenants.actors import COMMAND
from tenants.exact_json import dumps
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.journal import Started, ask, call
from tests.cast.people import Key, actor
from tests.cast.requests import park
from tests.house.strangers import METHODS, PAGE_METHODS, Address, addresses, contents, ids_of, sample

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
Filled = dict[str, uuid.UUID]


@pytest.fixture
def filled(acme: Tenant, alice: Member, ravi: Member, ravi_key: Key, her_run: Started) -> Filled:
    """One id of every table of acme's that the cast can fill: people, keys, a run with its steps, a request."""
    with scope(acme.pk):
        groups.create("payments", actor=actor(ravi), emails=[alice.email])
        hook = channels.add_webhook(actor=actor(ravi), url="https://hooks.example/x", events=["run.failed"]).channel
        room = channels.add_chat(actor=actor(ravi), kind="slack", name="chat", url="slack://A/B/C").channel
        channel_people.bind(room, actor=actor(ravi), member=alice.email, external_id="U1")
        channels.trial(hook, actor=actor(ravi))
        override_a_rotation(alice)
    door = her_run.hold()
    ask(door, call())
    door.give_back("the story ends here")
    park(acme, subject=f"run:{her_run.id}", ref="2")
    found = ids_of(acme.pk)
    expected = {"tenants_member", "tenants_group", "tenants_apikey", "runs_run", "approvals_approvalrequest"}
    expected |= {"approvals_channel", "approvals_channelperson", "approvals_delivery"}
    expected |= {"approvals_calendar", "approvals_rotation", "approvals_rotationoverride"}
    assert expected <= set(found)
    return found


def override_a_rotation(alice: Member) -> None:
    turns = {"zone": "UTC", "every": "week", "handover": "09:00", "first_day": "2026-11-02"}
    row = rotations.create(actor=COMMAND, name="Nights", members=[alice.email], **turns)
    ends = clock.now() + timedelta(days=1)
    rotations.override(row.pk, actor=COMMAND, member=alice, starts=None, ends=ends)


def same(foreign: Any, unknown: Any, key: uuid.UUID, random: uuid.UUID) -> bool:
    """Whether two answers are one: status and body, but for the id that was asked for."""
    bodies = [_body(foreign).replace(str(key), "ID"), _body(unknown).replace(str(random), "ID")]
    return foreign.status_code == unknown.status_code and bodies[0] == bodies[1]


def _body(response: Any) -> str:
    return b"".join(response).decode() if response.streaming else response.content.decode()


def test_a_foreign_id_answers_like_an_unknown_one_on_every_route_of_the_api(
    acme: Tenant, filled: Filled, stranger_key: Key
) -> None:
    client = Client(raise_request_exception=False, headers=stranger_key.headers)
    document = client.get("/api/v1/openapi.json").json()
    before = contents(acme.pk)
    wrong = []
    # Lists first: later the stranger's own audit names the ids the stranger has asked for.
    for path, operations in sorted(document["paths"].items(), key=lambda each: "{" in each[0]):
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            text = sample(body, document) if body else None
            address = Address(path.lstrip("/"), tuple(each["name"] for each in _in_path(operation)))
            wrong += _differences(client, address, method.upper(), text, filled)
    assert wrong == []
    assert contents(acme.pk) == before


def _in_path(operation: Any) -> list[Any]:
    return [each for each in operation.get("parameters", []) if each["in"] == "path"]


def _differences(client: Client, address: Address, method: str, body: Any, filled: Filled) -> list[str]:
    def ask(key: uuid.UUID) -> Any:
        return client.generic(method, address.at(key), _text(body), content_type="application/json")

    wrong, random = [], uuid.uuid4()
    unknown = ask(random)
    for table, key in _tried(address, filled):
        foreign = ask(key)
        leaked = [str(each) for each in filled.values() if each != key and str(each) in _body(foreign)]
        differs = bool(address.parts) and not same(foreign, unknown, key, random)
        if leaked or differs or foreign.status_code >= 500:
            wrong.append(f"{method} {address.text} with an id of {table}: {foreign.status_code}, {unknown.status_code}")
    return wrong


def _tried(address: Address, filled: Filled) -> list[tuple[str, uuid.UUID]]:
    """Every id at an address that holds one; elsewhere they would all be the same question."""
    return list(filled.items()) if address.holds_an_id() else [("nothing", uuid.uuid4())]


def _text(body: Any) -> str:
    return "" if body is None else dumps(body)


def test_no_page_of_a_tenant_opens_to_a_stranger(acme: Tenant, filled: Filled, stranger: Member) -> None:
    client = signed_in(stranger)
    before = contents(acme.pk)
    wrong = []
    for address in addresses("t/"):
        paths = sorted({address.at(key, slug="acme", tenant="acme") for key in filled.values()})
        # Every id with the methods that pages know; with the others, which no page takes, one.
        asked = [*product(PAGE_METHODS, paths), *product(set(METHODS) - set(PAGE_METHODS), paths[:1])]
        answers = {each: client.generic(*each).status_code for each in asked}
        wrong += [f"{method} {path}: {status}" for (method, path), status in answers.items() if status != 404]
    assert wrong == []
    assert contents(acme.pk) == before


def test_at_home_a_foreign_id_is_an_unknown_one_on_every_page(acme: Tenant, filled: Filled, stranger: Member) -> None:
    client = signed_in(stranger)
    before = contents(acme.pk)
    wrong = []
    for address in [each for each in addresses("t/") if len(each.parts) > 1]:
        for method in PAGE_METHODS:
            ask = partial(_status, client, method, address)
            unknown = ask(uuid.uuid4())
            for table, key in _tried(address, filled):
                foreign = ask(key)
                if foreign != unknown or foreign >= 500:
                    wrong.append(f"{method} {address.text} with an id of {table}: {foreign}, {unknown}")
    assert wrong == []
    assert contents(acme.pk) == before


def test_no_topic_of_a_tenant_is_heard_by_a_stranger(
    acme: Tenant, filled: Filled, mona: Member, stranger: Member
) -> None:
    asked = [f"{kind}:{key}" for kind in topics.KINDS for key in filled.values()]
    with scope(acme.pk):
        at_home = topics.numbers(mona, asked)
    assert {topic.partition(":")[0] for topic in at_home} == {"run", "request"}
    with scope(stranger.tenant_id):
        assert topics.numbers(stranger, asked) == {}


def _status(client: Client, method: str, address: Address, key: uuid.UUID) -> int:
    return client.generic(method, address.at(key, slug="globex", tenant="globex")).status_code


def signed_in(member: Member) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
