"""The settings pages: only an admin opens them; what they change is what the API would have changed."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from approvals import escalation_policies, rules
from approvals.models import ApprovalRequest, EscalationPolicy, PolicyRule
from runs.models import AgentVersion, ToolDefinition
from tenants import exact_json, ids
from tenants.models import AgentAccess, AuditContent, AuditEntry, Group, Member, Tenant, ToolSetting
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import group

BASE = "/t/acme/settings/"
PAGES = ("policies/", "policies/new/", "escalation/", "agents/", "people/", "groups/")


def browser(member: Member) -> Client:
    client = Client()
    client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def rule_form(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Refunds over 500",
        "tools": "refund",
        "agents": "*",
        "when": "args.amount > 500",
        "outcome": "require_approval",
        "approvals": "2",
        "of": [],
        "answers": ["approve", "reject"],
        "reason_required": "yes",
        "escalation_policy": "",
        "response_timeout": "2 h",
        "on_timeout": "expire",
        "change": "Money is tight.",
        "do": "live",
        "uncovered": "on",
        **changes,
    }


def live_bodies(tenant: Tenant) -> list[dict[str, Any]]:
    with scope(tenant.pk):
        found = PolicyRule.objects.filter(is_default=False, live__isnull=False)
        return [dict(rule.versions.get(number=rule.live).body) for rule in found]


def audited(tenant: Tenant) -> list[str]:
    with scope(tenant.pk):
        return list(AuditEntry.objects.order_by("-seq").values_list("action", flat=True)[:3])


@pytest.fixture
def announced(db: None) -> None:
    tool = {"title": "Refund", "effect": "keyed", "risk": "medium"}
    ToolDefinition.objects.create(fingerprint="f1", name="refund", definition=tool)
    AgentVersion.objects.create(agent="refund-desk", version="3", model="scripted", tools=["f1"])


@pytest.mark.parametrize("path", PAGES)
def test_an_admin_opens_it_and_nobody_else(path: str, ravi: Member, alice: Member, mona: Member) -> None:
    assert browser(ravi).get(BASE + path).status_code == 200
    for other in (alice, mona):
        response = browser(other).get(BASE + path)
        if path == "agents/" and other is mona:
            assert response.status_code == 200
            continue
        assert response.status_code == 403
        assert "These people can: " in response.text


def test_the_menu_leads_an_admin_there_and_shows_a_reviewer_nothing_of_it(ravi: Member, alice: Member) -> None:
    assert "Tools and policies" in browser(ravi).get(f"{BASE}policies/").text
    assert "Tools and policies" not in browser(alice).get("/t/acme/inbox/").text


def test_a_rule_made_on_the_page_is_live_and_in_the_audit(acme: Tenant, ravi: Member) -> None:
    reviewers = group(acme, "Refund reviewers")
    response = browser(ravi).post(f"{BASE}policies/new/", rule_form(of=[f"group:{reviewers.pk}"]))
    assert response.status_code == 303
    body = live_bodies(acme)[0]
    assert (body["when"], body["approvals"], body["reason_required"]) == ("args.amount > 500", 2, True)
    assert body["of"] == [{"kind": "group", "key": str(reviewers.pk), "at_least": 0}]
    assert body["response_timeout"] == 7200
    assert "policy.created" in audited(acme)


def test_a_draft_is_not_live_until_it_is_made_so(acme: Tenant, ravi: Member) -> None:
    client = browser(ravi)
    url = client.post(f"{BASE}policies/new/", rule_form(do="draft")).headers["Location"]
    assert live_bodies(acme) == []
    assert "draft" in client.get(f"{BASE}policies/").text
    client.post(url, rule_form(approvals="1"))
    assert [body["approvals"] for body in live_bodies(acme)] == [1]


def test_a_trial_changes_nothing_and_says_what_would_go_another_way(
    acme: Tenant, ravi: Member, parked: ApprovalRequest
) -> None:
    response = browser(ravi).post(f"{BASE}policies/new/", rule_form(do="trial"))
    assert response.status_code == 200
    assert "Trial on past calls" in response.text
    assert "Refund 1240.00 EUR for order A-1042" in response.text
    assert live_bodies(acme) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"when": "args.amount >"}, "when"),
        ({"approvals": "0"}, "approvals"),
        ({"name": ""}, "name"),
        ({"answers": []}, "answers"),
    ],
)
def test_what_cannot_be_used_is_said_beside_its_field(
    acme: Tenant, ravi: Member, changes: dict[str, Any], field: str
) -> None:
    response = browser(ravi).post(f"{BASE}policies/new/", rule_form(**changes))
    assert response.status_code == 422
    assert "Nothing was changed." in response.text
    assert re.search(rf'name="{field}"[^>]*', response.text)
    assert 'class="error"' in response.text
    assert live_bodies(acme) == []


def test_a_condition_that_does_not_parse_says_where_and_what_to_write_and_is_kept(acme: Tenant, ravi: Member) -> None:
    client, typed = browser(ravi), "args.amount > 500\n  and args.currency == 'EUR'"
    text = unescape(client.post(f"{BASE}policies/new/", rule_form(when=typed)).text)
    said = "The condition cannot be read at “and args.currency == 'EU…” (line 2, column 3). Write && for “and”."
    assert said in text
    assert "NUM_FLOAT" not in text
    assert "expecting" not in text
    assert typed in text
    with scope(acme.pk):
        Member.objects.filter(pk=ravi.pk).update(locale="zh-hans")
    text = client.post(f"{BASE}policies/new/", rule_form(when="args.amount =< 5")).text
    assert "条件在“=&lt; 5”处无法读懂（第 1 行，第 13 列）。 “至多”写作 &lt;=。" in text


def test_saving_an_unchanged_rule_keeps_what_the_form_does_not_show(acme: Tenant, ravi: Member) -> None:
    place = group(acme, "Leads", ravi)
    with scope(acme.pk):
        rule = rules.create_rule(
            actor=actor(ravi), name="Odd", response_timeout=100, approvals=2, of=[{"group": "Leads", "at_least": 1}]
        )
    form = rule_form(
        name="Odd",
        tools="*",
        when="",
        of=[f"group:{place.pk}"],
        response_timeout="1 min 40 s",
        **{f"at_least.group:{place.pk}": "1"},
        order=str(rule.position),
    )
    assert browser(ravi).post(f"{BASE}policies/{rule.pk}/", form).status_code == 303
    body = live_bodies(acme)[0]
    assert (body["response_timeout"], body["of"][0]["at_least"]) == (100, 1)


def test_the_default_rule_is_a_number_for_each_risk(acme: Tenant, ravi: Member) -> None:
    with scope(acme.pk):
        default = PolicyRule.objects.get(is_default=True)
    client = browser(ravi)
    assert "Approvals for critical risk" in client.get(f"{BASE}policies/{default.pk}/").text
    risks = {"by_risk.low": "0", "by_risk.medium": "1", "by_risk.high": "1", "by_risk.critical": "3"}
    form = rule_form(**risks, answers=["approve", "edit", "reject", "respond"])
    assert client.post(f"{BASE}policies/{default.pk}/", form).status_code == 303
    with scope(acme.pk):
        default.refresh_from_db()
        assert default.versions.get(number=default.live).body["by_risk"]["critical"] == 3


def test_a_new_rule_is_called_by_its_name_as_soon_as_it_has_one(ravi: Member) -> None:
    client = browser(ravi)
    assert "<h1>New rule</h1>" in client.get(f"{BASE}policies/new/").text
    tried = client.post(f"{BASE}policies/new/", rule_form(name="Gold & silver", do="trial")).text
    assert "<h1>New rule: Gold &amp; silver</h1>" in tried
    assert re.search(r"<title>New rule: Gold &amp; silver\b", tried)


def test_a_draft_that_never_was_in_force_is_discarded_and_not_taken_out_of_force(acme: Tenant, ravi: Member) -> None:
    client = browser(ravi)
    client.post(f"{BASE}policies/new/", rule_form(do="draft", name="Someday"))
    client.post(f"{BASE}policies/new/", rule_form(do="live", name="Today", uncovered="on"))
    with scope(acme.pk):
        draft, live = (PolicyRule.objects.get(name=name) for name in ("Someday", "Today"))
    page = client.get(f"{BASE}policies/{draft.pk}/").text
    assert "Discard the draft" in page
    assert "Take the rule out of force" not in page
    assert "Take the rule out of force" in client.get(f"{BASE}policies/{live.pk}/").text
    done = client.post(f"{BASE}policies/{draft.pk}/archive/", follow=True).text
    assert "The draft of “Someday” is discarded." in done
    assert "out of force" not in done
    assert "Someday" not in client.get(f"{BASE}policies/").text
    assert client.post(f"{BASE}policies/{live.pk}/archive/").status_code == 303
    told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", client.get("/t/acme/audit/").text))
    assert "discarded the draft of the rule Someday" in told
    assert "took out of force the rule Today" in told


def test_the_list_says_once_how_many_of_one_group_a_rule_asks(acme: Tenant, ravi: Member, alice: Member) -> None:
    few, many = group(acme, "Few", alice), group(acme, "Many", alice)
    one, two = [f"group:{few.pk}"], [f"group:{few.pk}", f"group:{many.pk}"]
    client = browser(ravi)
    for of, least in ((one, "2"), (two, "1")):
        seats = {f"at_least.{each}": least for each in of}
        client.post(f"{BASE}policies/new/", rule_form(of=of, approvals="2", uncovered="on", **seats))
    page = client.get(f"{BASE}policies/").text
    assert "asks 2 of Few<" in page
    assert "asks 2 of Few (at least 1) and Many (at least 1)<" in page


def test_a_rule_that_names_too_few_people_is_warned_about(acme: Tenant, ravi: Member, alice: Member) -> None:
    place = group(acme, "Few", alice)
    text = browser(ravi).post(f"{BASE}policies/new/", rule_form(of=[f"group:{place.pk}"], do="trial")).text
    assert "1 person could answer, 2 are needed." in text


def test_a_name_that_no_tool_or_agent_has_is_saved_and_warned_about(
    acme: Tenant, ravi: Member, announced: None
) -> None:
    client = browser(ravi)
    form = rule_form(tools="refnd refund ref*", agents="Refund-desk", approvals="1", when="")
    text = client.post(f"{BASE}policies/new/", form, follow=True).text
    said = "No registered tool is named “refnd”, so this rule matches no call of it. There is “refund”."
    assert text.count(said) == 2
    assert "No registered agent is named “Refund-desk”" in text
    assert [body["tools"] for body in live_bodies(acme)] == [["refnd", "refund", "ref*"]]
    with scope(acme.pk):
        Member.objects.filter(pk=ravi.pk).update(locale="zh-hans")
        rule = PolicyRule.objects.get(is_default=False)
    assert "没有登记名为“refnd”的工具" in client.get(f"{BASE}policies/{rule.pk}/").text
    right = rule_form(tools="refund ref*", agents="refund-desk", approvals="1", when="")
    text = client.post(f"{BASE}policies/{rule.pk}/", right, follow=True).text
    assert "没有登记" not in text


def test_a_rule_with_hours_that_are_not_covered_is_live_once_somebody_says_so(
    acme: Tenant, ravi: Member, alice: Member
) -> None:
    client = browser(ravi)
    form = rule_form(approvals="1", uncovered="")
    asked = client.post(f"{BASE}policies/new/", form)
    assert asked.status_code == 422
    said = re.search(r"Make it live although (\d+) hours are not covered", asked.text)
    assert said
    assert 254 <= int(said[1]) <= 257  # Two weeks but their working hours; begun ones depend on the time of day.
    assert "nobody could answer. A request made by " in asked.text
    assert "One made after that is still open when enough people are there again." in asked.text
    assert "A request made then expires" not in asked.text
    assert list(asked.context["form"].errors) == ["uncovered"]
    assert live_bodies(acme) == []
    draft = client.post(f"{BASE}policies/new/", {**form, "do": "draft"})
    assert draft.status_code == 303
    url = draft.headers["Location"]
    assert client.post(f"{url}restore/", {"version": "1"}).status_code == 422
    assert live_bodies(acme) == []
    assert client.post(url, {**form, "uncovered": "on"}).status_code == 303
    with scope(acme.pk):
        entries = AuditContent.objects.filter(body__contains="uncovered_hours")
        assert [exact_json.loads(each.body)["detail"]["uncovered_hours"] for each in entries] == [int(said[1])]
    assert [body["name"] for body in live_bodies(acme)] == [form["name"]]
    covered = client.post(f"{BASE}policies/new/", {**form, "name": "In hours", "working_time": "on"})
    assert covered.status_code == 303


def test_who_could_answer_is_drawn_above_its_table(acme: Tenant, ravi: Member, alice: Member, bo: Member) -> None:
    with scope(acme.pk):
        rule = rules.create_rule(actor=actor(ravi), name="Pairs", approvals=2, response_timeout=7200)
    chart = browser(ravi).get(f"{BASE}policies/{rule.pk}/").context["view"].coverage.chart
    assert len(chart.days) in {14, 15}
    bars = [bar for day in chart.days[1:-1] for bar in day.bars]
    assert {(bar.fill, bar.x, bar.width, bar.number) for bar in bars if bar.fill != "fill-none"} == {
        ("fill-one", "172.5", "100.0", "2")
    }
    assert sum(1 for bar in bars if bar.fill == "fill-one") in {8, 9, 10}


def test_a_rule_is_taken_out_of_force_and_the_default_stays(acme: Tenant, ravi: Member) -> None:
    client = browser(ravi)
    url = client.post(f"{BASE}policies/new/", rule_form()).headers["Location"]
    assert client.post(f"{url}archive/").status_code == 303
    assert live_bodies(acme) == []
    with scope(acme.pk):
        default = PolicyRule.objects.get(is_default=True)
    assert client.post(f"{BASE}policies/{default.pk}/archive/").status_code == 422


def test_an_escalation_is_made_and_changed(acme: Tenant, ravi: Member) -> None:
    leads = group(acme, "Finance leads")
    client = browser(ravi)
    form = {"name": "Standard", "repeats": "0", "level1.after": "60 min", "level1.groups": [str(leads.pk)]}
    assert client.post(f"{BASE}escalation/", form).status_code == 303
    with scope(acme.pk):
        made = EscalationPolicy.objects.get()
        assert made.levels == [{"after": 3600, "groups": [str(leads.pk)], "members": [], "rotations": []}]
    assert "Finance leads" in client.get(f"{BASE}escalation/{made.pk}/").text
    assert client.post(f"{BASE}escalation/{made.pk}/", {**form, "level1.after": "30 min"}).status_code == 303
    with scope(acme.pk):
        assert escalation_policies.found(made.pk).levels[0]["after"] == 1800


@pytest.mark.parametrize("form", [{"name": "X"}, {"name": "X", "level1.after": "5 min"}, {"name": ""}])
def test_an_escalation_that_asks_nobody_is_refused(acme: Tenant, ravi: Member, form: dict[str, str]) -> None:
    assert browser(ravi).post(f"{BASE}escalation/", form).status_code == 422
    with scope(acme.pk):
        assert not EscalationPolicy.objects.exists()


def test_an_agent_is_switched(acme: Tenant, ravi: Member, announced: None) -> None:
    client = browser(ravi)
    for value, wanted in (("1", True), ("0", False)):
        assert client.post(f"{BASE}agents/refund-desk/", {"enabled": value}).status_code == 303
        with scope(acme.pk):
            assert AgentAccess.objects.get(agent="refund-desk").enabled is wanted
    assert client.post(f"{BASE}agents/nobody/", {"enabled": "1"}).status_code == 404


def test_a_tools_risk_is_raised_and_never_lowered(acme: Tenant, ravi: Member, announced: None) -> None:
    client = browser(ravi)
    assert client.post(f"{BASE}tools/refund/", {"enabled": "1", "risk": "critical"}).status_code == 303
    assert client.post(f"{BASE}tools/refund/", {"enabled": "1", "risk": "low"}).status_code == 422
    with scope(acme.pk):
        assert ToolSetting.objects.get(tool="refund").risk == "critical"
    assert client.post(f"{BASE}tools/refund/", {"enabled": "0", "risk": ""}).status_code == 303
    with scope(acme.pk):
        assert (ToolSetting.objects.get(tool="refund").risk, ToolSetting.objects.get(tool="refund").enabled) == (
            "",
            False,
        )


def test_somebody_is_invited_by_a_link_that_is_told_once(acme: Tenant, ravi: Member) -> None:
    client = browser(ravi)
    form = {"email": "new@acme.example", "name": "Newcomer", "roles": ["reviewer"]}
    text = client.post(f"{BASE}people/invite/", form).text
    assert "/accounts/password/reset/key/" in text
    assert "/accounts/password/reset/key/" not in client.get(f"{BASE}people/").text
    assert client.post(f"{BASE}people/invite/", form).status_code == 422
    with scope(acme.pk):
        assert Member.objects.get(person__email="new@acme.example").roles == ["reviewer"]


def test_roles_change_and_the_last_admin_stays(acme: Tenant, ravi: Member, alice: Member) -> None:
    client = browser(ravi)
    assert (
        client.post(f"{BASE}people/{alice.pk}/", {"roles": ["reviewer", "manager"], "active": "1"}).status_code == 303
    )
    with scope(acme.pk):
        assert Member.objects.get(pk=alice.pk).roles == ["reviewer", "manager"]
    assert client.post(f"{BASE}people/{ravi.pk}/", {"active": "1"}).status_code == 422
    assert "at least one active admin" in client.post(f"{BASE}people/{ravi.pk}/", {"active": "1"}).text


def test_a_group_is_made_filled_and_emptied(acme: Tenant, ravi: Member, alice: Member) -> None:
    client = browser(ravi)
    assert client.post(f"{BASE}groups/", {"name": "Leads"}).status_code == 303
    assert client.post(f"{BASE}groups/", {"name": "Leads"}).status_code == 422
    with scope(acme.pk):
        found = Group.objects.get(name="Leads")
    for verb, number in (("add", 1), ("remove", 0)):
        assert client.post(f"{BASE}groups/{found.pk}/{verb}/", {"member": str(alice.pk)}).status_code == 303
        with scope(acme.pk):
            assert found.memberships.count() == number


def test_what_belongs_to_another_tenant_is_not_there(
    acme: Tenant, globex: Tenant, ravi: Member, stranger: Member, alice: Member
) -> None:
    theirs = group(globex, "Theirs", stranger)
    with scope(globex.pk):
        rule = rules.create_rule(actor=actor(stranger), name="Theirs")
    client, known, unknown = browser(ravi), (rule.pk, theirs.pk, stranger.pk), ids.new()
    paths: list[Callable[[Any], str]] = [
        lambda key: f"{BASE}policies/{key}/archive/",
        lambda key: f"{BASE}groups/{key}/add/",
        lambda key: f"{BASE}people/{key}/",
    ]
    for path, key in zip(paths, known, strict=True):
        sent = {"member": str(alice.pk), "active": "1"}
        assert client.post(path(key), sent).status_code == client.post(path(unknown), sent).status_code == 404


@pytest.mark.parametrize(
    ("deed", "page"),
    [
        ("policies/{}/restore/", "policies/{}/"),
        ("agents/refund-desk/stop/", "agents/"),
        ("keys/{}/revoke/", "keys/"),
        ("people/{}/invite/", "people/"),
        ("groups/{}/rename/", "groups/"),
        ("notices/{}/test/", "notices/"),
        ("rotations/{}/override/{}/end/", "rotations/{}/"),
    ],
)
def test_the_address_of_a_deed_opened_leads_to_the_page_above_it(deed: str, page: str, ravi: Member) -> None:
    some = str(ids.new())
    opened = browser(ravi).get(BASE + deed.replace("{}", some), follow=True)
    assert opened.redirect_chain[-1] == (BASE + page.replace("{}", some), 302)
