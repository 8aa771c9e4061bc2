"""The pages of settings: who may open them, what their forms do without script, what is refused, what they cost."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.timezone import localtime

from approvals import acts, rules
from approvals.models import ApprovalRequest, Delegation, EscalationPolicy, PolicyRule
from runs.models import AgentVersion
from tenants import exact_json, groups, ids, members, wording
from tenants.actors import COMMAND
from tenants.models import ApiKey, AuditEntry, Group, Member, Person, Tenant
from tenants.scope import scope
from tests.cast.people import Key, actor, make_member
from tests.cast.plays import Play, announce, standing, switch_on
from tests.cast.requests import a_call, demanded, group, rule
from tests.cast.runs import decide

BASE = "/t/acme/"
NEXT_YEAR = f"{timezone.now().year + 1}-01-05T08:00"
PAGES = {
    "settings/policies/": {"ravi"},
    "settings/policies/new/": {"ravi"},
    "settings/agents/": {"ravi", "mona"},
    "settings/escalation/": {"ravi"},
    "settings/people/": {"ravi"},
    "settings/people/invite/": {"ravi"},
    "settings/groups/": {"ravi"},
    "settings/organisation/": {"ravi"},
    "settings/keys/": {"ravi"},
    "settings/absence/": {"ravi", "mona", "alice"},
    "audit/": {"ravi"},
    "audit/export/": {"ravi"},
    "exports/events/": {"ravi"},
    "exports/requests/": {"ravi"},
}
RULE = {
    "name": "Large refunds",
    "tools": "refund",
    "agents": "*",
    "when": "args.amount > 1000",
    "outcome": "require_approval",
    "approvals": "2",
    "answers": ["approve", "reject"],
    "reason_required": "yes",
    "response_timeout": "2 h 30 min",
    "on_timeout": "fail_run",
    "change": "The limit was too high.",
    "uncovered": "on",
}
People = dict[str, Member]


def enter(member: Member) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def read(client: Client, path: str, status: int = 200) -> str:
    response = client.get(BASE + path)
    assert response.status_code == status, response.content.decode()[-3000:]
    return unescape(b"".join(response).decode() if response.streaming else response.content.decode())


def send(client: Client, path: str, **fields: Any) -> Any:
    """POST a form with its token."""
    client.get(f"{BASE}settings/absence/")
    return client.post(BASE + path, {**fields, "csrfmiddlewaretoken": client.cookies["csrftoken"].value})


def said(response: Any) -> str:
    return words(unescape(response.content.decode()))


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def actions(tenant: Tenant) -> list[str]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


@pytest.fixture
def people(acme: Tenant, alice: Member, mona: Member, ravi: Member) -> People:
    return {"alice": alice, "mona": mona, "ravi": ravi}


@pytest.mark.parametrize("path", PAGES)
def test_each_page_opens_to_its_roles_and_tells_others_who_can(people: People, path: str) -> None:
    for name, member in people.items():
        if name in PAGES[path]:
            read(enter(member), path)
        else:
            assert "These people can: " in (html := read(enter(member), path, status=403))
            assert "Ravi" in html


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_finds_no_page(acme: Tenant, stranger: Member, path: str) -> None:
    read(enter(stranger), path, status=404)


def test_reading_every_page_changes_nothing(acme: Tenant, people: People, play: Any) -> None:
    group(acme, "Finance", people["alice"])
    rule(acme, people["ravi"])
    client = enter(people["ravi"])
    before = contents_of(acme)
    for path in PAGES:
        read(client, path)
    assert contents_of(acme) == before


def contents_of(tenant: Tenant) -> list[Any]:
    with scope(tenant.pk):
        rows = [AuditEntry, PolicyRule, Member, Group, ApiKey]
        return [tenant.__class__.objects.get(pk=tenant.pk).stamp, *(model.objects.count() for model in rows)]


def test_the_sections_lead_to_the_first_page_one_may_open(people: People) -> None:
    leads = {"alice": "settings/absence/", "ravi": "settings/organisation/"}
    for name, path in leads.items():
        assert enter(people[name]).get(f"{BASE}settings/")["Location"] == BASE + path
    assert enter(people["mona"]).get(f"{BASE}settings/tools/")["Location"] == f"{BASE}settings/agents/"
    assert enter(people["ravi"]).get(f"{BASE}settings/tools/")["Location"] == f"{BASE}settings/policies/"
    assert "settings/tools/" not in read(enter(people["alice"]), "inbox/")


def test_a_rule_is_tried_kept_as_a_draft_and_made_live(acme: Tenant, people: People, parked_run: Play) -> None:
    client = enter(people["ravi"])
    asked = {**RULE, "tools": "look_up", "when": 'args.order == "A-1"', "approvals": "1"}
    trial = send(client, "settings/policies/new/", do="trial", **asked)
    assert trial.status_code == 200
    assert "2 calls" in said(trial)
    assert "Look up order A-1" in said(trial)
    assert "1 more, 0 fewer" in said(trial)
    with scope(acme.pk):
        assert PolicyRule.objects.count() == 1
    drafted = send(client, "settings/policies/new/", do="draft", **asked)
    assert drafted.status_code == 303, said(drafted)
    with scope(acme.pk):
        made = PolicyRule.objects.get(is_default=False)
    assert (made.live, made.name) == (None, "Large refunds")
    page = read(client, f"settings/policies/{made.pk}/")
    assert "The limit was too high." in page
    assert "not live" in read(client, "settings/policies/")
    live = send(client, f"settings/policies/{made.pk}/", do="live", **{**asked, "change": ""})
    assert live.status_code == 303, said(live)
    with scope(acme.pk):
        made.refresh_from_db()
        body = made.versions.get(number=1).body
        assert (made.live, made.versions.count()) == (1, 1)
    assert (body["response_timeout"], body["reason_required"], body["answers"]) == (9000, True, ["approve", "reject"])
    assert actions(acme)[-2:] == ["policy.created", "policy.published"]


def test_a_rule_is_written_anew_compared_and_restored(acme: Tenant, people: People) -> None:
    rule(acme, people["ravi"], "Refunds", tools=["refund"], approvals=1)
    client = enter(people["ravi"])
    with scope(acme.pk):
        made = PolicyRule.objects.get(is_default=False)
    send(client, f"settings/policies/{made.pk}/", do="live", **{**RULE, "when": ""})
    text = words(read(client, f"settings/policies/{made.pk}/"))
    assert "Version 2 is live" in text
    assert "was 1 now 2" in text
    assert "Ravi" in text
    restored = send(client, f"settings/policies/{made.pk}/restore/", version="1", uncovered="on")
    assert restored.status_code == 303
    with scope(acme.pk):
        assert PolicyRule.objects.get(pk=made.pk).live == 1
        assert demanded(a_call()).approvals == 1
    assert send(client, f"settings/policies/{made.pk}/restore/", version="9").status_code == 404
    assert send(client, f"settings/policies/{made.pk}/archive/").status_code == 303
    read(client, f"settings/policies/{made.pk}/", status=404)


def test_the_default_is_changed_by_risk_and_stays(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    with scope(acme.pk):
        default = PolicyRule.objects.get(is_default=True)
    fields = {f"by_risk.{risk}": number for risk, number in (("low", 0), ("medium", 1), ("high", 2), ("critical", 3))}
    same = {name: RULE[name] for name in ("answers", "response_timeout", "uncovered")}
    sent = {**same, **fields, "name": "Default", "on_timeout": "expire", "reason_required": ""}
    assert send(client, f"settings/policies/{default.pk}/", do="live", **sent).status_code == 303
    with scope(acme.pk):
        assert demanded(a_call()).approvals == 2
    assert send(client, f"settings/policies/{default.pk}/archive/").status_code == 422


@pytest.mark.parametrize(
    ("change", "message", "field"),
    [
        ({"when": "args.amout > 1"}, "has no parameter amout", "when"),
        ({"when": "args.amount > 1 &&"}, "cannot be read", "when"),
        ({"when": "args.order > 5"}, "cannot be evaluated", "when"),
        ({"name": ""}, "required", "name"),
        ({"approvals": "0"}, "greater than or equal to 1", "approvals"),
        ({"approvals": "many"}, "whole number", "approvals"),
        ({"response_timeout": "soon"}, "Write a time with its unit", "response_timeout"),
        ({"answers": []}, "required", "answers"),
    ],
)
def test_a_rule_that_cannot_be_saved_says_so_beside_its_field(
    acme: Tenant, people: People, play: Any, change: dict[str, Any], message: str, field: str
) -> None:
    client = enter(people["ravi"])
    for verb in ("live", "draft", "trial"):
        response = send(client, "settings/policies/new/", do=verb, **{**RULE, **change})
        assert response.status_code == 422
        html = unescape(response.content.decode())
        summary = html[html.index('role="alert"') : html.index("</section>", html.index('role="alert"'))]
        assert message in summary
        assert "autofocus" in html
        assert html.count(message) >= 2
        assert "The limit was too high." in html
        if field in ("when", "name", "approvals"):
            assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', html)
    with scope(acme.pk):
        assert PolicyRule.objects.count() == 1


def test_a_rule_asks_the_groups_and_people_that_were_chosen(acme: Tenant, people: People) -> None:
    finance = group(acme, "Finance", people["alice"])
    client = enter(people["ravi"])
    key = f"group:{finance.pk}"
    chosen = {"of": [key, f"member:{people['alice'].pk}"], f"at_least.{key}": "1"}
    assert send(client, "settings/policies/new/", do="live", **{**RULE, "when": ""}, **chosen).status_code == 303
    with scope(acme.pk):
        body = PolicyRule.objects.get(is_default=False).versions.get().body
    assert [(each["kind"], each["at_least"]) for each in body["of"]] == [("group", 1), ("member", 0)]
    assert "Finance (at least 1) and Alice" in words(read(client, "settings/policies/"))
    assert "asked by Large refunds" in words(read(client, "settings/groups/"))
    refused = send(
        client, "settings/policies/new/", do="live", **{**RULE, "approvals": "1"}, **{**chosen, f"at_least.{key}": "2"}
    )
    assert refused.status_code == 422
    assert "The groups need 2 people together." in said(refused)


def test_an_escalation_policy_is_made_changed_and_archived(acme: Tenant, people: People) -> None:
    finance = group(acme, "Finance", people["alice"])
    client = enter(people["ravi"])
    sent = {
        "name": "Ladder",
        "repeats": "1",
        "level1.after": "30 min",
        "level1.groups": str(finance.pk),
        "level2.after": "2 h",
        "level2.members": str(people["alice"].pk),
    }
    assert send(client, "settings/escalation/", **sent).status_code == 303
    with scope(acme.pk):
        made = EscalationPolicy.objects.get()
    assert [level["after"] for level in made.levels] == [1800, 7200]
    page = read(client, f"settings/escalation/{made.pk}/")
    assert 'value="30 min"' in page
    assert "level3.after" in page
    changed = {name: value for name, value in sent.items() if not name.startswith("level2")} | {"name": "Stairs"}
    assert send(client, f"settings/escalation/{made.pk}/", **changed).status_code == 303
    with scope(acme.pk):
        made.refresh_from_db()
    assert (made.name, len(made.levels)) == ("Stairs", 1)
    assert send(client, f"settings/escalation/{made.pk}/archive/").status_code == 303
    read(client, f"settings/escalation/{made.pk}/", status=404)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ({"level1.after": "30"}, "Write a time with its unit"),
        ({"level1.after": "30 min"}, "names at least one group, member or rotation"),
        ({"level1.after": ""}, "list of 1 to 10 levels"),
    ],
)
def test_a_level_that_is_not_whole_is_refused_beside_its_field(
    acme: Tenant, people: People, level: dict[str, str], message: str
) -> None:
    response = send(enter(people["ravi"]), "settings/escalation/", name="Ladder", repeats="0", **level)
    assert response.status_code == 422
    assert said(response).count(message) == 2
    assert 'value="Ladder"' in response.content.decode()


def test_levels_come_one_later_than_the_other(acme: Tenant, people: People) -> None:
    alice = str(people["alice"].pk)
    sent = {"level1.after": "2 h", "level1.members": alice, "level2.after": "1 h", "level2.members": alice}
    response = send(enter(people["ravi"]), "settings/escalation/", name="Ladder", repeats="0", **sent)
    assert "Each level comes later" in said(response)


def test_groups_are_made_filled_renamed_and_deleted(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    assert send(client, "settings/groups/", name="Finance").status_code == 303
    assert send(client, "settings/groups/", name="Finance").status_code == 422
    refused = send(client, "settings/groups/", name="Fin\u200bance")
    assert refused.status_code == 422
    assert "no invisible characters" in said(refused)
    with scope(acme.pk):
        made = Group.objects.get()
    url = f"settings/groups/{made.pk}/"
    assert send(client, f"{url}add/", member=str(people["alice"].pk)).status_code == 303
    assert "Take out Alice" in words(read(client, "settings/groups/"))
    assert send(client, f"{url}rename/", name="Money").status_code == 303
    assert send(client, f"{url}rename/", name="").status_code == 422
    assert send(client, f"{url}remove/", member=str(people["alice"].pk)).status_code == 303
    assert send(client, f"{url}remove/", member=str(people["alice"].pk)).status_code == 404
    assert "Nobody is in this group" in read(client, "settings/groups/")
    assert send(client, f"{url}delete/").status_code == 303
    with scope(acme.pk):
        assert not Group.objects.exists()
    assert actions(acme)[-1] == "group.deleted"


def test_people_are_invited_given_roles_and_switched_off(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    invited = send(client, "settings/people/invite/", email="Zoe@acme.example", name="Zoe", roles=["reviewer"])
    assert invited.status_code == 200
    assert "/accounts/password/reset/key/" in said(invited)
    with scope(acme.pk):
        zoe = Member.objects.get(person__email="zoe@acme.example")
    assert send(client, f"settings/people/{zoe.pk}/", roles=["manager"], active="1").status_code == 303
    assert send(client, f"settings/people/{zoe.pk}/", roles=["manager"]).status_code == 303
    with scope(acme.pk):
        zoe.refresh_from_db()
    assert (zoe.roles, zoe.active) == (["manager"], False)
    assert "/accounts/password/reset/key/" in said(send(client, f"settings/people/{zoe.pk}/invite/"))
    assert actions(acme)[-3:] == ["member.added", "member.changed", "member.changed"]


def test_an_admin_who_stops_being_one_is_told_so_once_on_a_page_that_they_may_see(acme: Tenant, people: People) -> None:
    with scope(acme.pk):
        Member.objects.filter(pk=people["mona"].pk).update(roles=["manager", "admin"])
    client = enter(people["ravi"])
    response = send(client, f"settings/people/{people['ravi'].pk}/", roles=["reviewer"], active="1")
    assert (response.status_code, response["Location"]) == (303, f"{BASE}inbox/")
    page = client.get(response["Location"])
    assert page.status_code == 200
    assert "Saved: you are no admin any more." in said(page)
    assert "You may not do this" not in said(page)
    assert "no admin any more" not in said(client.get(response["Location"]))
    off = send(enter(people["mona"]), f"settings/people/{people['mona'].pk}/", roles=["manager"])
    assert off.status_code == 422  # Now she is the last one.


def test_the_last_admin_stays_and_what_was_typed_is_kept(acme: Tenant, people: People) -> None:
    response = send(enter(people["ravi"]), f"settings/people/{people['ravi'].pk}/", roles=["manager"], active="1")
    assert response.status_code == 422
    assert "keeps at least one active admin" in said(response)
    with scope(acme.pk):
        assert Member.objects.get(pk=people["ravi"].pk).roles == ["admin"]


def test_an_invitation_that_cannot_be_says_why(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    for sent, message in (
        ({"email": "no address", "roles": ["reviewer"]}, "valid email"),
        ({"email": "new@acme.example"}, "Choose at least one role"),
        ({"email": "alice@acme.example", "roles": ["admin"]}, "a member already"),
    ):
        response = send(client, "settings/people/invite/", name="Kept", **sent)
        assert response.status_code == 422
        assert message in said(response)
        assert 'value="Kept"' in response.content.decode()


def test_a_key_is_shown_once_and_opens_the_api_until_it_is_ended(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    made = send(client, "settings/keys/", name="ci", scopes=["settings:read"])
    assert made.headers["Cache-Control"].count("no-store") == 1
    (text,) = re.findall(r"vm_\w+", said(made))
    listed = read(client, "settings/keys/")
    assert text not in listed
    assert f"since {wording.day(localtime(), year=False)}. May: settings:read" in listed
    headers = Key(text).headers
    assert Client().get("/api/v1/keys", headers=headers).status_code == 200
    with scope(acme.pk):
        key = ApiKey.objects.get()
    assert send(client, f"settings/keys/{key.pk}/revoke/").status_code == 303
    assert Client().get("/api/v1/keys", headers=headers).status_code == 401
    assert "ended" in read(client, "settings/keys/")
    refused = send(client, "settings/keys/", name="bot", scopes=["approvals:decide"], service="on")
    assert refused.status_code == 422
    assert "A service key can never decide." in said(refused)


def test_the_organisation_is_settled_in_one_form(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    sent = {
        "name": "Acme GmbH",
        "timezone": "Europe/Berlin",
        "locale": "en",
        "retention_days": "30",
        "second_factor": "on",
    }
    assert send(client, "settings/organisation/", **sent).status_code == 303
    acme.refresh_from_db()
    assert (acme.name, acme.timezone, acme.retention_days) == ("Acme GmbH", "Europe/Berlin", 30)
    assert (acme.second_factor, acme.initiators_may_review, acme.notifications) == (True, False, {"email": False})
    for change in ({"retention_days": "0"}, {"timezone": "Mars/Olympus"}, {"locale": "xx"}):
        assert send(client, "settings/organisation/", **{**sent, **change}).status_code == 422
    assert actions(acme).count("settings.changed") == 1


def test_one_names_a_stand_in_and_ends_it(acme: Tenant, people: People, bo: Member) -> None:
    client = enter(people["alice"])
    sent = {"to": str(bo.pk), "starts": "", "until": NEXT_YEAR}
    assert send(client, "settings/absence/", **sent).status_code == 303
    with scope(acme.pk):
        made = Delegation.objects.get()
    assert (made.member_id, made.stand_in_id) == (people["alice"].pk, bo.pk)
    assert "Bo answers" in words(read(client, "settings/absence/"))
    twice = send(client, "settings/absence/", **sent)
    assert twice.status_code == 422
    assert "Somebody stands in during that time already." in said(twice)
    assert NEXT_YEAR in twice.content.decode()
    assert send(enter(bo), f"settings/absence/{made.pk}/end/").status_code == 404
    assert send(client, f"settings/absence/{made.pk}/end/").status_code == 303
    assert "Bo answers" not in words(read(client, "settings/absence/"))


def test_only_an_admin_names_a_stand_in_for_somebody_else(acme: Tenant, people: People, bo: Member) -> None:
    sent = {"member": str(bo.pk), "to": str(people["alice"].pk), "until": NEXT_YEAR}
    assert send(enter(people["ravi"]), "settings/absence/", **sent).status_code == 303
    with scope(acme.pk):
        assert Delegation.objects.get().member_id == bo.pk
    assert "End it now" not in read(enter(people["mona"]), "settings/absence/")


def test_an_agent_is_switched_on_by_an_admin_and_stopped_by_a_manager(acme: Tenant, people: People) -> None:
    announce()
    admin, manager = enter(people["ravi"]), enter(people["mona"])
    assert send(admin, "settings/agents/clerk/", enabled="1").status_code == 303
    assert "stop/" not in read(admin, "settings/agents/")
    run = Play(acme, title="Under way")
    assert "settings/agents/clerk/stop/" in read(manager, "settings/agents/")
    assert send(manager, "settings/agents/clerk/stop/").status_code == 303
    assert run.fresh().status == "paused"
    assert "The agent was stopped; the run goes on once" in read(manager, f"runs/{run.id}/")
    assert "stopped" in read(manager, "settings/agents/")
    assert send(manager, "settings/agents/clerk/start/").status_code == 303
    assert run.fresh().status == "queued"
    assert send(manager, "settings/agents/clerk/", enabled="0").status_code == 403
    assert send(admin, "settings/agents/clerk/stop/").status_code == 403
    assert send(admin, "settings/agents/clerk/", enabled="0").status_code == 303


def test_an_agent_whose_workers_were_not_heard_of_in_time_says_so(
    acme: Tenant, people: People, play: Any, settings: Any
) -> None:
    settings.LEASE_SECONDS = 30
    client = enter(people["ravi"])
    assert "heard of" not in words(read(client, "settings/agents/"))
    AgentVersion.objects.filter(agent="clerk").update(known_until=timezone.now() + timedelta(seconds=40))
    assert re.search(r"clerk v3 scripted on no worker heard of for 5\d s", words(read(client, "settings/agents/")))
    AgentVersion.objects.filter(agent="clerk").update(known_until=timezone.now())
    assert re.search(r"clerk v3 scripted on no worker knows it", words(read(client, "settings/agents/")))


def test_a_tools_risk_is_raised_on_the_page_and_never_lowered(acme: Tenant, people: People, play: Any) -> None:
    client = enter(people["ravi"])
    assert send(client, "settings/tools/refund/", enabled="1", risk="critical").status_code == 303
    assert standing(acme.pk).risks == {"refund": "critical"}
    lowered = send(client, "settings/tools/refund/", enabled="1", risk="low")
    assert lowered.status_code == 422
    assert "never lowered" in said(lowered)
    assert send(client, "settings/tools/refund/", enabled="0", risk="").status_code == 303
    assert (standing(acme.pk).risks, standing(acme.pk).off) == ({}, {"refund"})
    assert send(client, "settings/tools/nothing/", enabled="0").status_code == 404


def test_the_audit_is_read_narrowed_checked_and_exported(acme: Tenant, people: People, parked_run: Play) -> None:
    client = enter(people["ravi"])
    send(client, "settings/groups/", name="Finance")
    text = words(read(client, "audit/"))
    assert "The chain holds" in text
    assert "made the group Finance" in text
    assert "started the run Broken cup" in text
    assert "made the group" not in words(read(client, "audit/?what=runs"))
    assert "Searched: the last 90 days." in read(client, "audit/?what=settings&who=ravi")
    assert "No entry matches." in read(client, "audit/?who=nobody")
    assert "No entry matches." in read(client, "audit/?to=2001-01-01")
    last = len(actions(acme))
    assert f"Entry {last}" in words(read(client, f"audit/?entry={last}"))
    read(client, "audit/?entry=999999", status=404)
    read(client, "audit/?cursor=nonsense", status=400)
    lines = read(client, "audit/export/?what=settings&format=ndjson").splitlines()
    exported = [exact_json.loads(line)["action"] for line in lines]
    assert "group.created" in exported
    assert "run.started" not in exported
    assert read(client, "audit/export/?format=csv").startswith("seq,at,actor")
    links = re.findall(r'href="/t/acme/(exports/[^"]+)"', read(client, "audit/"))
    lines, cells = (read(client, unescape(link)).splitlines() for link in links[:2])
    assert exact_json.loads(lines[0])["name"] == "run.queued"
    assert len(cells) == len(lines) + 1
    assert links[2:] == ["exports/requests/?format=ndjson", "exports/requests/?format=csv"]
    assert read(client, links[3]).startswith("id,status,version")


def test_the_audit_tells_past_acts_by_the_names_of_then(
    acme: Tenant, people: People, parked_run: Play, alice: Member, bo: Member
) -> None:
    with scope(acme.pk):
        request = ApprovalRequest.objects.get(subject=f"run:{parked_run.id}")
    acts.comment(request.pk, tenant=acme.pk, actor=actor(bo), text="Too much?", channel="page")
    decide(alice, request, "edit", arguments={"order": "A-1", "amount": "9.50"})
    client = enter(people["ravi"])
    send(client, "settings/groups/", name="Finance")
    with scope(acme.pk):
        finance = Group.objects.get(name="Finance")
        groups.add(finance.pk, bo.pk, actor=actor(people["ravi"]))
        members.change(bo.pk, actor=actor(people["ravi"]), roles=["reviewer", "manager"])
        groups.change(finance.pk, actor=actor(people["ravi"]), name="Money")
        Person.objects.filter(pk=bo.person_id).update(name="Bo Renamed")
    text = words(read(client, "audit/"))
    assert "edited and approved Refund 9.50 for order A-1" in text
    assert "commented on Refund 12.50 for order A-1" in text
    assert text.index("changed the group Money") < text.index("changed the group Finance")
    assert re.search(r"changed the member Bo (?!Renamed)", text)
    with scope(acme.pk):
        Member.objects.filter(pk=people["ravi"].pk).update(locale="zh-hans")
    assert re.search("评论了 Refund 12.50 for order A-1", words(read(client, "audit/")))


def test_the_audit_goes_on_where_its_page_ended(acme: Tenant, people: People) -> None:
    client = enter(people["ravi"])
    for number in range(55):
        make_group(acme, people["ravi"], f"Group {number:02}")
    first = read(client, "audit/")
    further = re.findall(r'href="/t/acme/(audit/\?cursor=[^"]+)"', first)[0]
    second = read(client, further)
    seen = re.findall(r"made the group (?:<[^>]+>)*Group (\d\d)", first + second)
    assert seen == [f"{number:02}" for number in reversed(range(55))]


def make_group(tenant: Tenant, by: Member, name: str) -> None:
    from tenants import groups, members  # noqa: PLC0415

    with scope(tenant.pk):
        groups.create(name, actor=members.actor_of(by))


@pytest.mark.parametrize("path", [path for path in PAGES if "export" not in path])
def test_a_page_costs_the_same_however_much_it_shows(acme: Tenant, people: People, path: str, play: Any) -> None:
    client = enter(people["ravi"])
    rule(acme, people["ravi"], "First of its kind", when="args.amount > 1", tools=["refund_it"])
    read(client, path)
    with CaptureQueriesContext(
        connection,
    ) as few:
        read(client, path)
    for number in range(6):
        member = make_member(acme, f"Extra{number}", "reviewer")
        group(acme, f"Group {number}", member, people["alice"])
        rule(acme, people["ravi"], f"Rule {number}", when="args.amount > 1", tools=["refund_it"])
        switch_on(acme, f"agent-{number}")
    with CaptureQueriesContext(connection) as many:
        read(client, path)
    assert len(many) <= len(few)


@pytest.mark.parametrize("path", ["settings/policies/{}/", "settings/escalation/{}/", "settings/keys/{}/revoke/"])
def test_an_unknown_id_is_not_found(acme: Tenant, people: People, path: str) -> None:
    assert send(enter(people["ravi"]), path.format(ids.new())).status_code == 404


def test_what_is_refused_is_in_the_audit(acme: Tenant, people: People) -> None:
    send(enter(people["alice"]), "settings/groups/", name="Mine")
    with scope(acme.pk):
        entry = AuditEntry.objects.order_by("-seq")[0]
    assert (entry.action, entry.refused, entry.channel) == ("request.refused", True, "page")


def test_the_pages_speak_chinese(acme: Tenant, people: People) -> None:
    acme.locale = "zh-hans"
    acme.save()
    client = enter(people["ravi"])
    for path in PAGES:
        html = read(client, path)
        if "export" not in path:
            assert 'lang="zh-hans"' in html
    assert ">默认规则</a>" in read(client, "settings/policies/")


def test_what_was_done_from_the_shell_is_told_in_the_readers_language(acme: Tenant, people: People) -> None:
    with scope(acme.pk):
        rules.create_rule(actor=COMMAND, name="Small", tools=["refund"], outcome="allow")
    client = enter(people["ravi"])
    assert ", command line</td>" in read(client, "settings/policies/")
    acme.locale = "zh-hans"
    acme.save()
    for path in ("settings/policies/", "audit/"):
        assert "命令行" in read(client, path)
        assert "command line" not in read(client, path)
