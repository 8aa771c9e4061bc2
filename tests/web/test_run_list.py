"""The list of runs: what it shows of each, how it is narrowed, and how it goes on."""

import re
from datetime import timedelta

from django.utils import timezone

from approvals import absences, rules
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import make_member
from tests.cast.plays import Play, switch_on
from tests.cast.run_pages import Enters, Plays, read, words
from tests.cast.runs import decide


def test_the_list_shows_runs_newest_first_with_what_they_wait_for(
    enter: Enters, mona: Member, play: Plays, parked_run: Play
) -> None:
    play(title="Second")
    html = read(enter(mona), "/t/acme/runs/")
    assert html.index("Second") < html.index("Broken cup")
    assert "An answer by Alice or Bo." in html or "An answer by Bo or Alice." in html
    assert "clerk v3" in html
    assert 'aria-current="page"' in html


def test_the_list_waits_for_nobody_who_has_voted_on_the_present_version(
    enter: Enters, mona: Member, acme: Tenant, alice: Member, bo: Member, play: Plays
) -> None:
    with scope(acme.pk):
        rules.create_rule(actor=COMMAND, name="Two", tools=["refund"], outcome="require_approval", approvals=2)
    run = play(title="Two of them").begin()
    (request,) = run.park(*run.wants(("refund", {"order": "A-1", "amount": "1"})))
    client = enter(mona)
    assert re.search("An answer by (Alice or Bo|Bo or Alice)", read(client, "/t/acme/runs/"))
    decide(bo, request)
    assert "An answer by Alice." in read(client, "/t/acme/runs/")


def test_nobody_waits_for_an_absent_person_whose_stand_in_has_voted(
    enter: Enters, mona: Member, acme: Tenant, alice: Member, bo: Member, play: Plays
) -> None:
    chen = make_member(acme, "Chen", "reviewer")
    of = [{"member": each.email} for each in (alice, bo)]
    with scope(acme.pk):
        rules.create_rule(actor=COMMAND, name="Two", tools=["refund"], outcome="require_approval", approvals=2, of=of)
    run = play(title="Two of them").begin()
    (request,) = run.park(*run.wants(("refund", {"order": "A-1", "amount": "1"})))
    with scope(acme.pk):
        ends = timezone.now() + timedelta(days=1)
        absences.delegate(actor=COMMAND, member=alice, to=chen, starts=None, ends=ends)
    decide(chen, request)
    assert "An answer by Bo." in read(enter(mona), "/t/acme/runs/")
    page = words(read(enter(chen), f"/t/acme/requests/{request.pk}/"))
    assert re.search(r"Waiting for one of Bo ?\.", page)
    assert "They can: Bo." in words(read(enter(mona), f"/t/acme/requests/{request.pk}/"))
    inbox = words(read(enter(alice), "/t/acme/inbox/"))
    assert "Chen voted in your place" in inbox
    assert "1 , 1 waits for others" in inbox


def test_the_list_is_narrowed_by_state_agent_and_words(
    enter: Enters, mona: Member, play: Plays, parked_run: Play
) -> None:
    play(title="Plain")
    client = enter(mona)
    assert "Plain" not in read(client, "/t/acme/runs/?status=waiting_approval")
    assert "Broken cup" not in read(client, "/t/acme/runs/?status=queued")
    assert "No run matches" in read(client, "/t/acme/runs/?agent=nobody")
    found = read(client, "/t/acme/runs/?q=broken")
    assert "Broken cup" in found
    assert "Plain" not in found
    assert "Titles of the last 90 days were searched." in found


def test_the_list_goes_on_where_the_page_ended(enter: Enters, mona: Member, play: Plays) -> None:
    titles = [f"Run number {number:02}" for number in range(53)]
    for title in titles:
        play(title=title)
    client = enter(mona)
    first = read(client, "/t/acme/runs/")
    (further,) = re.findall(r'href="(/t/acme/runs/\?cursor=[^"]+)"', first)
    second = read(client, further)
    seen = re.findall(r"Run number \d\d", first) + re.findall(r"Run number \d\d", second)
    assert list(dict.fromkeys(seen)) == titles[::-1]


def test_an_empty_list_says_why(enter: Enters, mona: Member, acme: Tenant, ravi: Member) -> None:
    client = enter(mona)
    assert "An admin, Ravi, switches agents on." in read(client, "/t/acme/runs/")
    switch_on(acme)
    assert "No run yet" in read(client, "/t/acme/runs/")


def test_the_menu_counts_the_runs_that_the_list_shows(enter: Enters, alice: Member, parked_run: Play) -> None:
    html = words(read(enter(alice), "/t/acme/runs/"))
    assert "Runs 1 open" in html
    assert "Unfinished 1" in html


def test_a_member_without_a_role_finds_their_runs_in_the_menu(enter: Enters, acme: Tenant, play: Plays) -> None:
    iris = make_member(acme, "iris")
    play(by=iris)
    html = read(enter(iris), "/t/acme/inbox/")
    assert 'href="/t/acme/runs/"' in html
    assert "Runs 1 open" in words(html)
    assert "settings/" not in html
