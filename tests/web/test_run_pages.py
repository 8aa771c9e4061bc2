"""The page of a run: what it shows to whom, and what it costs."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from approvals import frozen, requests, requirements, rules
from approvals.models import ApprovalRequest, EscalationPolicy
from runs import access, announcing, commands, receivers
from runs.entries import Closing, Opening
from runs.models import AgentVersion, FormerAttempt
from runs.views import story
from tenants import events, members
from tenants.actors import COMMAND
from tenants.locks import hold
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.plays import Play
from tests.cast.run_pages import Enters, Plays, read, send, url, words
from tests.cast.runs import decide


def test_a_parked_run_says_what_holds_it_up(enter: Enters, mona: Member, parked_run: Play) -> None:
    text = words(read(enter(mona), url(parked_run)))
    assert "One thing holds it up" in text
    assert "Step 3 waits for approval of Refund 12.50 for order A-1" in text
    assert "It expires at" in text
    assert "2. Look up order A-1" in text
    assert "3. Refund 12.50 for order A-1" in text
    assert "Stop: ends the run, closes its questions. What was done stays done." in text
    assert "scripted model" in text


def test_a_call_that_was_closed_as_nobody_answered_is_told_as_what_it_is_before_and_after_a_retry(
    enter: Enters, mona: Member, alice: Member, acme: Tenant, parked_run: Play
) -> None:
    with scope(acme.pk):
        receivers.resolved(
            request=None, subject=parked_run.subject, ref="3", status="expired", text="", actor=COMMAND, fail_run=True
        )
    client = enter(mona)
    text = words(read(client, url(parked_run)))
    assert "3. Refund 12.50 for order A-1" in text
    assert "Not run: the run had failed." in text
    assert "Retry: the agent goes on and nobody is asked about that call again: it stays closed." in text
    assert "the steps that failed it are tried again" not in text
    send(client, url(parked_run, "retry/"))
    assert parked_run.fresh().status == "queued"
    parked_run.take()
    parked_run.again()
    send(client, url(parked_run, "cancel/"))
    text = words(read(client, url(parked_run)))
    assert parked_run.fresh().status == "cancelled"
    assert "Not run: the run had failed." in text
    assert "Not run: the run was stopped." not in text


def test_letters_that_look_alike_and_hidden_ones_are_marked_on_the_pages_of_a_run(
    enter: Enters, mona: Member, acme: Tenant, play: Plays
) -> None:
    run = play(title="Order").begin()
    look, refund = run.wants(("look_up", {"order": "A\u202e-1"}), ("refund", {"order": "p\u0430ypal", "amount": "1"}))
    run.done(look, {"account": "\u0430pple"})
    run.park(refund)
    client = enter(mona)
    text = words(read(client, url(run)))
    mark = "hidden or look-alike characters"
    assert f"2. Look up order A U+202E right-to-left override -1 look_up {mark} 1 hidden character" in text
    assert f"account: \u0430pple {mark} Look closely at: \u0430pple." in text
    assert re.search(rf"order p\u0430ypal refund .{{0,40}}{mark} Look closely at: p\u0430ypal\.", text)
    send(client, url(run, "comment/"), text="Ask \u0430pple.")
    commented = words(read(client, url(run)))
    assert commented.count("Look closely at: \u0430pple.") == 3  # The result, the comment, and the event that tells it.
    held = text.partition("holds it up")[2].partition("Where the time went")[0]
    assert re.search(rf"since [^.]+\. {mark} Look closely at: p\u0430ypal\.", held)
    assert mark not in read(client, url(play(title="Заказ A-1").begin()))
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "仔细看" in words(read(client, url(run)))


def test_the_wait_of_now_and_all_waits_for_people_have_names_of_their_own(
    enter: Enters, mona: Member, alice: Member, play: Plays
) -> None:
    run = play().begin()
    steps = run.wants(("refund", {"order": "A-1", "amount": "1"}), ("refund", {"order": "A-2", "amount": "1"}))
    first, _second = run.park(*steps)
    decide(alice, first)
    text = words(read(enter(mona), url(run)))
    assert re.search(r"Waiting for people took [^;]+ in all; it has no bar here\.", text)
    assert "Waiting for people now" in text


def test_it_says_when_more_people_are_asked(
    enter: Enters, mona: Member, acme: Tenant, play: Plays, alice: Member, bo: Member
) -> None:
    with scope(acme.pk):
        levels = [{"after": 600, "groups": [], "members": [str(bo.pk)]}]
        policy = EscalationPolicy.objects.create(tenant_id=acme.pk, name="Leads", levels=levels)
        of = [{"member": alice.email, "at_least": 0}]
        rules.create_rule(
            actor=members.actor_of(mona), name="Refunds", tools=["refund"], of=of, escalation_policy=str(policy.pk)
        )
    run = play().begin()
    run.park(*run.wants(("refund", {"order": "A-1", "amount": "1"})))
    text = words(read(enter(mona), url(run)))
    assert "More people are asked too at" in text


def test_a_part_is_the_part_alone_and_nothing_is_kept(enter: Enters, mona: Member, parked_run: Play) -> None:
    client = enter(mona)
    for part in ("header", "steps"):
        response = client.get(url(parked_run), {"part": part})
        assert b"<html" not in response.content
        assert f'id="{part}"'.encode() in response.content
        assert "no-store" in response["Cache-Control"]
    assert "no-store" in client.get(url(parked_run))["Cache-Control"]


def test_what_comes_next_is_fetched_with_the_steps(enter: Enters, mona: Member, parked_run: Play) -> None:
    client = enter(mona)
    told = '<p class="small quiet" id="next" hx-swap-oob="true">'
    assert f"{told}Afterwards the model is asked again" in read(client, url(parked_run, "?part=steps"))
    send(client, url(parked_run, "cancel/"))
    live = read(client, url(parked_run, "?part=steps"))
    assert told in live
    assert "Afterwards" not in live


def test_a_reviewer_reads_the_run_of_a_request_and_has_no_controls(
    enter: Enters, alice: Member, parked_run: Play
) -> None:
    html = read(enter(alice), url(parked_run))
    assert "Broken cup" in html
    assert "pause/" not in html
    assert "cancel/" not in html


def test_an_admin_does_not_read_runs_of_others(enter: Enters, ravi: Member, parked_run: Play) -> None:
    client = enter(ravi)
    read(client, url(parked_run), status=404)
    assert "Broken cup" not in read(client, "/t/acme/runs/")


def test_a_stranger_finds_nothing(enter: Enters, stranger: Member, parked_run: Play) -> None:
    client = enter(stranger)
    for path in (url(parked_run), "/t/acme/runs/", "/t/acme/outcomes/"):
        read(client, path, status=404)
    read(client, url(parked_run).replace("acme", "globex"), status=404)


def test_what_deceives_is_inert_and_marked(enter: Enters, mona: Member, play: Plays) -> None:
    nasty = "<script>alert(1)</script>\u202e\u200b</title>javascript:"
    run = play(title=nasty, labels={"<b>": nasty[:40]}).begin()
    (seq,) = run.wants(("look_up", {"order": nasty, "<img onerror=x>": nasty}), rationale=nasty, text=nasty)
    run.done(seq, nasty)
    run.again()
    run.finish(nasty)
    client = enter(mona)
    for path in (url(run), "/t/acme/runs/"):
        html = client.get(path).content.decode()
        assert "<script>alert" not in html
        assert "<img onerror" not in html
        assert "\u202e" not in re.sub(r"<title>.*?</title>", "", html)
        assert "U+202E" in html


def test_a_long_result_shows_its_beginning_and_leads_to_the_whole(enter: Enters, mona: Member, play: Plays) -> None:
    run = play().begin()
    (seq,) = run.wants(("look_up", {"order": "A-1"}))
    whole = "😀" * 2000 + "the end"
    run.done(seq, whole)
    client = enter(mona)
    html = read(client, url(run))
    assert "the end" not in html
    assert f"{url(run)}steps/{seq}/result/" in html
    response = client.get(f"{url(run)}steps/{seq}/result/")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode() == f'"{whole}"'


def test_the_pages_take_the_same_number_of_queries_however_much_they_show(
    enter: Enters, mona: Member, play: Plays
) -> None:
    client = enter(mona)

    def cost(path: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            read(client, path)
        return len(captured)

    small = play().begin()
    small.park(*small.wants(*[("refund", {"order": f"A-{n}", "amount": "1"}) for n in range(2)]))
    cost("/t/acme/runs/")
    few = cost("/t/acme/runs/"), cost(url(small))
    large = play().begin()
    large.park(*large.wants(*[("refund", {"order": f"A-{n}", "amount": "1"}) for n in range(60)]))
    for _ in range(40):
        play()
    many = cost("/t/acme/runs/"), cost(url(large))
    assert few == many
    assert max(many) <= 40


def test_a_very_long_run_shows_its_latest_steps_and_says_so(
    enter: Enters, mona: Member, play: Plays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "STEPS", 5)
    run = play().begin()
    for number in run.wants(*[("look_up", {"order": f"A-{n}"}) for n in range(8)]):
        run.done(number, {})
    text = words(read(enter(mona), url(run)))
    assert "9 so far, 9 done." in text
    assert "The first 4 are left out here; the API lists them all." in text
    assert "Look up order A-7" in text
    assert "Look up order A-0" not in text


def test_only_calls_that_left_are_counted_and_what_a_vanished_worker_held_is_no_work(
    enter: Enters, mona: Member, acme: Tenant, play: Plays
) -> None:
    run = play().begin()
    first, second, _third = run.wants(*(("look_up", {"order": f"A-{n}"}) for n in range(3)))
    run.done(first, {"found": True})
    run.holder.open(Opening(second))
    run.holder.close(Closing(second, "started", cause="crashed", not_done=False))
    run.done(second, {"found": True})
    with scope(acme.pk):
        FormerAttempt.objects.filter(run_id=run.run.pk, seq=second).update(
            opened_at=timezone.now() - timedelta(seconds=30), closed_at=timezone.now()
        )
    client = enter(mona)
    text = words(read(client, url(run)))
    assert "Tools, 2 calls" in text
    assert "30 s went by with a worker that had vanished" in text
    assert re.search(r"[0-2](\.\d)? s of work\.", text)
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "工作进程" in words(read(client, url(run)))


def test_what_happened_is_told_in_the_readers_words_beside_the_events_names(
    enter: Enters, mona: Member, acme: Tenant, parked_run: Play
) -> None:
    client = enter(mona)
    story = words(read(client, url(parked_run))).partition("Everything that happened")[2]
    assert "waits for a worker run.queued" in story
    assert "step 2 planned step.planned" in story
    assert "step 3 somebody is asked approval.requested" in story
    assert "It wants: Look up order A-1; Refund 12.50 for order A-1." in words(read(client, url(parked_run)))
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    text = words(read(client, url(parked_run)))
    assert "等待工作进程 run.queued" in text
    assert "第 2 步 已计划 step.planned" in text
    assert "它想要：Look up order A-1；Refund 12.50 for order A-1。" in text


def test_a_run_without_a_step_says_why_there_is_none(enter: Enters, mona: Member, acme: Tenant, play: Plays) -> None:
    run, client = play(), enter(mona)
    assert "No step yet. A worker takes it up in a moment." in words(read(client, url(run)))
    with scope(acme.pk):
        commands.pause(run.run.pk, actor=members.actor_of(mona))
    assert "No step yet. " in (text := words(read(client, url(run))))
    assert "in a moment" not in text
    with scope(acme.pk):
        commands.cancel(run.run.pk, actor=members.actor_of(mona))
    assert "It ended before its first step." in words(read(client, url(run)))


def test_an_approved_call_that_no_running_worker_knows_says_so_and_what_leads_out(
    enter: Enters, mona: Member, alice: Member, acme: Tenant, play: Plays, settings: Any
) -> None:
    settings.LEASE_SECONDS = 30
    run = play().begin()
    (request,) = run.park(*run.wants(("refund", {"order": "A-1", "amount": "1"})))
    decide(alice, request, "approve")
    client, path = enter(alice), f"/t/acme/requests/{request.pk}/"
    text = words(read(client, path))
    assert "Not run yet: it runs as soon as a worker is free." in text
    assert "What will be sent" in text
    assert "No running worker" not in words(read(client, url(run)))
    believed = announcing.REPEATS * announcing.pause()
    AgentVersion.objects.filter(agent="clerk").update(known_until=timezone.now() + timedelta(seconds=believed - 50))
    text = words(read(client, path))
    assert "as soon as a worker is free" not in text
    assert re.search(r"Not run yet: no worker that knows clerk v3 has been heard of for 5\d s\.", text)
    holdup = words(read(client, url(run)))
    assert re.search(r"No worker that knows this version has been heard of for 5\d s\.", holdup)
    AgentVersion.objects.filter(agent="clerk").update(known_until=timezone.now())
    text = words(read(client, path))
    assert "as soon as a worker is free" not in text
    assert "Not run yet: no running worker knows clerk v3." in text
    assert "It runs by itself once a worker that knows this version is started." in text
    assert "One thing holds it up No running worker knows this version of the agent." in words(read(client, url(run)))
    with scope(acme.pk):
        commands.pause(run.run.pk, actor=members.actor_of(mona))
        Member.objects.filter(pk=alice.pk).update(locale="zh-hans")
    assert "尚未执行：运行已暂停。" in words(read(client, path))


def test_home_leads_to_the_one_inbox_or_asks_which(
    enter: Enters, alice: Member, stranger: Member, acme: Tenant, globex: Tenant
) -> None:
    assert enter(alice).get("/")["Location"] == "/t/acme/inbox/"
    with scope(globex.pk):
        members.add(alice.email, actor=members.actor_of(stranger), roles=["reviewer"])
    html = read(enter(alice), "/")
    assert "/t/acme/inbox/" in html
    assert "/t/globex/inbox/" in html
    assert Client().get("/")["Location"].startswith("/accounts/login/")


def test_what_a_person_changed_is_not_told_as_what_the_model_wanted(
    enter: Enters, parked_run: Play, alice: Member, mona: Member
) -> None:
    before = words(read(enter(mona), url(parked_run)))
    with scope(alice.tenant_id):
        request = ApprovalRequest.objects.get(subject=f"run:{parked_run.id}")
    decide(alice, request, "edit", arguments={"order": "A-1", "amount": "9.50"})
    after = words(read(enter(mona), url(parked_run)))
    assert "changed it afterwards" not in before
    wanted = before.split("It wants: ")[1].split(".")[0]
    assert "9.50" not in wanted
    assert f"It wants: {wanted}" in after
    assert f"({alice.person.name} changed it afterwards)" in after
    assert "9.50" not in after.split("It wants: ")[1].split(f"({alice.person.name}")[0]


def test_what_a_person_changed_before_it_was_asked_again_is_not_told_as_what_the_model_wanted(
    enter: Enters, parked_run: Play, alice: Member, bo: Member, mona: Member
) -> None:
    with scope(alice.tenant_id):
        request = ApprovalRequest.objects.get(subject=f"run:{parked_run.id}")
    decide(alice, request, "edit", arguments={"order": "A-1", "amount": "9.50"})
    with scope(alice.tenant_id):
        hold(request.subject)
        request.refresh_from_db()
        call = frozen.call_of(request, request.versions.get(number=2))
        need = requirements.from_json(request.requirement)
        new = requests.supersede(
            request.pk, call=call, requirement=need, actor=COMMAND, difference={"because": "moved"}, keep_votes=False
        )
    page = words(read(enter(mona), url(parked_run)))
    assert "9.50" not in page.split("It wants: ")[1].split(f"({alice.person.name} changed it afterwards)")[0]
    asked = words(read(enter(bo), f"/t/acme/requests/{new.pk}/"))
    assert "was 12.50 now 9.50" in asked


def test_what_is_told_while_the_page_is_read_the_page_still_hears_of(
    enter: Enters, parked_run: Play, mona: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is read before its rows: else it would take itself for newer than what it shows."""
    order: list[str] = []
    number, row = events.last_seq, access.found

    def last_seq(subject: str) -> int:
        order.append("number")
        return number(subject)

    def found(*given: Any) -> Any:
        order.append("row")
        return row(*given)

    client = enter(mona)
    monkeypatch.setattr(events, "last_seq", last_seq)
    monkeypatch.setattr(access, "found", found)
    read(client, url(parked_run))
    assert order == ["number", "row"]
