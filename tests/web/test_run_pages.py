"""The pages of runs: what they show to whom, what their forms do without script, and what they cost."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from approvals import frozen, requests, requirements, rules
from approvals.models import ApprovalRequest, EscalationPolicy
from runs import access, announcing, commands, telling
from runs.entries import Closing, Opening
from runs.models import AgentVersion, FormerAttempt, Step
from runs.views import story
from tenants import events, members
from tenants.actors import COMMAND
from tenants.locks import hold
from tenants.models import AuditEntry, Event, Member, Tenant
from tenants.scope import scope
from tests.cast.people import make_member
from tests.cast.plays import Play, switch_on
from tests.cast.runs import decide

Plays = Callable[..., Play]
Enters = Callable[[Member], Client]


@pytest.fixture
def enter() -> Enters:
    """A client in which this member is signed in; forms need their token."""

    def make(member: Member) -> Client:
        client = Client(enforce_csrf_checks=True)
        client.force_login(member.person, backend="allauth.account.auth_backends.AuthenticationBackend")
        return client

    return make


def read(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, response.content
    return unescape(response.content.decode())


def send(client: Client, path: str, **fields: str) -> Any:
    """POST a form with the token that its page carried."""
    client.get("/t/acme/runs/")
    token = client.cookies["csrftoken"].value if "csrftoken" in client.cookies else ""
    return client.post(path, {**fields, "csrfmiddlewaretoken": token})


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def url(play: Play, verb: str = "") -> str:
    return f"/t/acme/runs/{play.id}/{verb}"


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


def test_a_parked_run_says_what_holds_it_up(enter: Enters, mona: Member, parked_run: Play) -> None:
    text = words(read(enter(mona), url(parked_run)))
    assert "One thing holds it up" in text
    assert "Step 3 waits for approval of Refund 12.50 for order A-1" in text
    assert "It expires at" in text
    assert "2. Look up order A-1" in text
    assert "3. Refund 12.50 for order A-1" in text
    assert "Stop: ends the run, closes its questions. What was done stays done." in text
    assert "scripted model" in text


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


def test_an_initiator_may_stop_and_nothing_else(enter: Enters, ravi: Member, play: Plays) -> None:
    html = read(enter(ravi), url(play(by=ravi)))
    assert "cancel/" in html
    assert "pause/" not in html


def test_an_admin_does_not_read_runs_of_others(enter: Enters, ravi: Member, parked_run: Play) -> None:
    client = enter(ravi)
    read(client, url(parked_run), status=404)
    assert "Broken cup" not in read(client, "/t/acme/runs/")


def test_a_stranger_finds_nothing(enter: Enters, stranger: Member, parked_run: Play) -> None:
    client = enter(stranger)
    for path in (url(parked_run), "/t/acme/runs/", "/t/acme/outcomes/"):
        read(client, path, status=404)
    read(client, url(parked_run).replace("acme", "globex"), status=404)


def test_pause_resume_and_stop_work_as_plain_forms(enter: Enters, mona: Member, parked_run: Play) -> None:
    client = enter(mona)
    for verb, status in (("pause/", "paused"), ("resume/", "queued"), ("cancel/", "cancelled")):
        response = send(client, url(parked_run, verb))
        assert (response.status_code, response["Location"]) == (303, url(parked_run))
        assert parked_run.fresh().status == status
    text = words(read(client, url(parked_run)))
    assert "Mona stopped further steps at" in text
    assert "Nothing had happened yet." in text


def test_a_verb_that_does_not_apply_says_so_on_the_page(enter: Enters, mona: Member, parked_run: Play) -> None:
    client = enter(mona)
    response = send(client, url(parked_run, "resume/"))
    assert response.status_code == 409
    text = words(unescape(response.content.decode()))
    assert "Nothing was changed. The run is neither paused nor waiting for attention." in text
    assert "Broken cup" in text


def test_who_may_not_operate_is_told_and_the_refusal_is_in_the_audit(
    enter: Enters, alice: Member, acme: Tenant, parked_run: Play
) -> None:
    response = send(enter(alice), url(parked_run, "pause/"))
    assert response.status_code == 403
    assert parked_run.fresh().status == "waiting_approval"
    with scope(acme.pk):
        assert AuditEntry.objects.filter(refused=True, channel="page").count() == 1


@pytest.mark.parametrize("verb", ["cancel/", "pause/", "resume/", "retry/", "comment/"])
def test_a_get_changes_nothing(enter: Enters, mona: Member, parked_run: Play, verb: str) -> None:
    client = enter(mona)
    assert client.get(url(parked_run, verb)).status_code == 405
    assert client.head(url(parked_run, verb)).status_code == 405
    assert parked_run.fresh().status == "waiting_approval"


def test_a_form_without_its_token_changes_nothing(enter: Enters, mona: Member, parked_run: Play) -> None:
    assert enter(mona).post(url(parked_run, "cancel/")).status_code == 403
    assert parked_run.fresh().status == "waiting_approval"


def test_a_comment_stands_on_the_page_and_an_empty_one_is_refused(
    enter: Enters, alice: Member, parked_run: Play
) -> None:
    client = enter(alice)
    assert send(client, url(parked_run, "comment/"), text="I asked the customer.").status_code == 303
    assert "I asked the customer." in read(client, url(parked_run))
    refused = send(client, url(parked_run, "comment/"), text=" ")
    assert refused.status_code == 422
    assert b"Write the comment first." in refused.content


def test_a_comment_that_is_too_long_comes_back_in_its_box_with_what_is_wrong(
    enter: Enters, alice: Member, parked_run: Play
) -> None:
    long = "A long story. " * 1_000 + "."
    refused = send(enter(alice), url(parked_run, "comment/"), text=long)
    assert refused.status_code == 422
    assert "The text is longer than 10,000 characters." in refused.text
    assert long in refused.text
    assert 'name="text" rows="2" maxlength="10000"' in refused.text


def test_a_failed_run_offers_a_retry(enter: Enters, mona: Member, play: Plays) -> None:
    run = play().begin()
    run.fail("The key is wrong.")
    client = enter(mona)
    text = words(read(client, url(run)))
    assert "Failed at" in text
    assert "The key is wrong." in text
    assert send(client, url(run, "retry/")).status_code == 303
    assert run.fresh().status == "queued"


def test_a_budget_is_asked_for_where_it_ran_out(enter: Enters, mona: Member, play: Plays) -> None:
    run = play().begin()
    run.wants(text="More.")
    run.attention("budget")
    client = enter(mona)
    assert "The budget is used up." in read(client, url(run))
    assert send(client, url(run, "resume/"), tokens="").status_code == 422
    assert send(client, url(run, "resume/"), tokens="many").status_code == 422
    assert send(client, url(run, "resume/"), tokens="5,000").status_code == 303
    assert (run.fresh().status, run.fresh().budget) == ("queued", {"tokens": 5000})


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


def test_the_desk_shows_what_is_known_and_who_may_settle(enter: Enters, mona: Member, unknown_run: Play) -> None:
    text = words(read(enter(mona), "/t/acme/outcomes/"))
    assert "Outcome desk (1)" in text
    assert "Make a label for A-2" in text
    assert "the call was sent" in text
    assert "The connection broke before an answer came." in text
    assert "the service has no way to be asked" in text
    assert "Managers: Mona." in text
    assert "4111" not in text
    assert re.search(r"Where to look when [\d:]+ to [\d:]+ If it happened, it happened then\.", text)
    assert "the tool Pay money back. in its author’s words" in text
    assert "It did not happen, do it again" in text


def test_the_desk_says_where_it_may_be_seen_whether_a_call_happened(
    enter: Enters, mona: Member, alice: Member, acme: Tenant, play: Plays
) -> None:
    run = play().begin()
    (step,) = run.wants(("refund", {"order": "A-1", "amount": "1"}))
    (request,) = run.park(step, evidence='{"goes_to":"Card 4111, Maja","order":"Found."}')
    decide(alice, request, "approve")
    run.take()
    run.lost(step, key="key-of-this-call")
    client = enter(mona)
    text = words(read(client, "/t/acme/outcomes/")).partition("Where to look")[2]
    assert "key key-of-this-call The call carried it. Whoever was called may find it by that." in text
    assert "goes_ to Card 4111, Maja read before it was approved" in text
    assert "undo The bank can recall it for 24 hours. if it happened and should not have" in text
    assert text.index("key-of-this-call") < text.index("Pay money back.")
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "如果发生过，就在此期间。" in words(read(client, "/t/acme/outcomes/"))


def test_an_outcome_is_settled_by_a_plain_form(enter: Enters, mona: Member, acme: Tenant, unknown_run: Play) -> None:
    client = enter(mona)
    path = f"/t/acme/outcomes/{unknown_run.id}-2/settle/"
    answer = send(client, path, outcome="completed", note="Seen in the portal.", result="L-77")
    assert (answer.status_code, answer["Location"]) == (303, "/t/acme/outcomes/")
    text = words(read(client, "/t/acme/outcomes/"))
    assert "Nothing to settle" in text
    assert "Settled by Mona: “ Seen in the portal. ”" in text
    assert "Recorded: it happened." in text
    assert "Recorded: it happened." not in words(read(client, "/t/acme/outcomes/"))
    with scope(acme.pk):
        (event,) = [row for row in events.after(unknown_run.subject, 0, 50) if row.name == "step.settled"]
    assert event.data["outcome"] == "completed"


def test_a_step_settled_with_an_empty_result_says_that_none_was_stated(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play
) -> None:
    client = enter(mona)
    path = f"/t/acme/outcomes/{unknown_run.id}-2/settle/"
    nothing = send(client, path, outcome="completed", note="Seen in the portal.", result=" ")
    assert (nothing.status_code, unknown_run.fresh().status) == (422, "needs_attention")
    assert "or tick that there is none to give" in unescape(nothing.content.decode())
    both = send(client, path, outcome="completed", note="Seen in the portal.", result="L-77", no_result="1")
    assert (both.status_code, unknown_run.fresh().status) == (422, "needs_attention")
    assert re.search(r'name="no_result" value="1" checked', both.content.decode())
    assert send(client, path, outcome="completed", note="Seen in the portal.", no_result="1").status_code == 303
    steps = words(read(client, url(unknown_run, "?part=steps")))
    assert "“ Seen in the portal. ” Mona stated no result." in steps
    assert "Result, as Mona stated it:" not in steps
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "Mona没有说明结果。" in words(read(client, url(unknown_run)))


def test_the_time_a_run_waited_for_a_settlement_is_counted(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play
) -> None:
    with scope(acme.pk):
        Step.objects.filter(run_id=unknown_run.run.pk, seq=2).update(unknown_since=timezone.now() - timedelta(hours=3))
    client = enter(mona)
    text = words(read(client, url(unknown_run)))
    assert "Waiting for people took 3 h in all" in text
    assert "For 3 h so far it is unknown what came of a call; a manager settles it." in text
    assert "Waiting for people now 3 h" in text
    with scope(acme.pk):
        commands.settle(unknown_run.run.pk, 2, outcome="not_done", note="No.", actor=members.actor_of(mona))
        rows = list(Event.objects.filter(subject=unknown_run.subject).order_by("seq"))
        begun = next(row.at for row in rows if row.name == "step.unknown")
        ended = next(row.at for row in rows if row.name == "step.settled")
        detail = telling.detail(unknown_run.fresh(), list(telling.steps_of(unknown_run.run.pk)))
        told = story.times(detail, story.unsettled(rows, detail.steps))
    assert told["outcome_seconds"] == told["people_seconds"] == (ended - begun).total_seconds() > 0
    assert told["people_since"] is None
    assert "it was unknown what had come of a call, until a manager settled it." in words(
        read(client, url(unknown_run))
    )


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


def test_a_call_that_became_unknown_again_is_told_from_then_on(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play
) -> None:
    with scope(acme.pk):
        commands.settle(unknown_run.run.pk, 2, outcome="do_again", note="Not there.", actor=members.actor_of(mona))
    unknown_run.take()
    unknown_run.lost(2)
    unknown_run.attention("unknown_outcome")
    with scope(acme.pk):
        rows = list(Event.objects.filter(subject=unknown_run.subject).order_by("seq"))
        detail = telling.detail(unknown_run.fresh(), list(telling.steps_of(unknown_run.run.pk)))
        periods = story.unsettled(rows, detail.steps)
        told = story.times(
            detail, [(start - timedelta(hours=2), end) if end else (start, end) for start, end in periods]
        )
    assert len(periods) == 2
    assert told["outcome_seconds"] >= 7200 > told["outcome_open_seconds"] > 0
    text = words(read(enter(mona), url(unknown_run)))
    assert "it was unknown what had come of a call, until a manager settled it." in text
    assert "so far it is unknown what came of a call; a manager settles it." in text


def test_the_desk_tells_what_a_person_stated_of_an_earlier_attempt(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play
) -> None:
    with scope(acme.pk):
        commands.settle(unknown_run.run.pk, 2, outcome="do_again", note="Not there.", actor=members.actor_of(mona))
    unknown_run.take()
    unknown_run.lost(2)
    unknown_run.attention("unknown_outcome")
    client = enter(mona)
    known = words(read(client, "/t/acme/outcomes/")).partition("What is known")[2]
    told = "Mona stated that it had not happened, and had it done again. Not there."
    places = [known.index(each) for each in ("Attempt 1 opened", told, "Attempt 2 opened", "No answer, no result.")]
    assert places == sorted(places)
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert "Mona说明它没有发生，并要求再做一次。" in words(read(client, "/t/acme/outcomes/"))


def test_a_settled_step_says_who_stated_what_and_when(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play, play: Plays
) -> None:
    actor = members.actor_of(mona)
    undone = play().begin()
    for label in undone.wants(("label", {"order": "A-3", "card": "1"}), ("label", {"order": "A-4", "card": "1"})):
        undone.lost(label)
    said = {"outcome": "completed", "note": "Seen in the portal.", "result": '{"label":"L-77"}'}
    with scope(acme.pk):
        commands.settle(unknown_run.run.pk, 2, **said, actor=actor)
    with scope(acme.pk):
        commands.settle(undone.run.pk, 2, outcome="not_done", note="No label there.", actor=actor)
        commands.settle(undone.run.pk, 3, outcome="do_again", note="Sure of it.", actor=actor)
    steps = words(read(enter(mona), url(unknown_run, "?part=steps")))
    assert re.search(
        r"No answer came back. Mona stated at [\d:]+ that it happened. “ Seen in the portal. ”"
        r" Result, as Mona stated it: label: L-77",
        steps,
    )
    client = enter(mona)
    steps = words(read(client, url(undone, "?part=steps")))
    assert re.search(r"Mona stated at [\d:]+ that it did not happen. “ No label there. ”", steps)
    assert "A person says" not in steps
    assert re.search(r"Mona stated at [\d:]+ that it had not happened, and had it done again. “ Sure of it. ”", steps)
    with scope(acme.pk):
        Member.objects.filter(pk=mona.pk).update(locale="zh-hans")
    assert re.search(r"Mona于 [\d:]+ 裁定：没有发生。 “ No label there. ”", words(read(client, url(undone))))


def test_a_request_and_its_successors_say_that_a_person_stated_what_came_of_the_call(
    enter: Enters, mona: Member, alice: Member, bo: Member, acme: Tenant, play: Plays
) -> None:
    run = play().begin()
    steps = run.wants(("refund", {"order": "A-1", "amount": "1"}), ("refund", {"order": "A-2", "amount": "2"}))
    asked = run.park(*steps)
    for each in asked:
        decide(alice, each, "approve")
    run.take()
    for step in steps:
        run.lost(step)
    with scope(acme.pk):
        for step, outcome in zip(steps, ("completed", "not_done"), strict=True):
            commands.settle(run.run.pk, step, outcome=outcome, note="I rang.", actor=members.actor_of(mona))
    client = enter(alice)
    text = words(read(client, f"/t/acme/requests/{asked[0].pk}/"))
    assert "No answer came back. Mona stated that it happened. “I rang.”" in text
    assert "It ran and was completed." not in text
    assert "What was asked for" in text
    text = words(read(client, f"/t/acme/requests/{asked[1].pk}/"))
    assert "No answer came back. Mona stated that it did not happen. “I rang.”" in text
    later = play().begin()
    (request,) = later.park(*later.wants(("refund", {"order": "A-3", "amount": "3"})))
    for path in (f"/t/acme/requests/{request.pk}/", "/t/acme/decided/"):
        text = words(read(client, path))
        assert "Completed, as Mona stated" in text
        assert "Did not happen, as Mona stated" in text


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


@pytest.mark.parametrize(("fields", "said"), [({"outcome": "completed"}, "Say how you know."),
                                              ({"note": "Seen."}, "Choose what came of it.")])  # fmt: skip
def test_half_a_form_settles_nothing_and_keeps_what_was_typed(
    enter: Enters, mona: Member, unknown_run: Play, fields: dict[str, str], said: str
) -> None:
    answer = send(enter(mona), f"/t/acme/outcomes/{unknown_run.id}-2/settle/", **fields)
    assert answer.status_code == 422
    text = unescape(answer.content.decode())
    assert said in text
    assert fields.get("note", "") in text
    assert unknown_run.fresh().status == "needs_attention"


def test_an_initiator_settles_nothing(enter: Enters, mona: Member, acme: Tenant, play: Plays) -> None:
    run = play(by=mona).begin()
    (label,) = run.wants(("label", {"order": "A-2", "card": "1"}))
    run.lost(label)
    run.attention("unknown_outcome")
    client = enter(mona)
    assert "You started this run" in read(client, "/t/acme/outcomes/")
    answer = send(client, f"/t/acme/outcomes/{run.id}-2/settle/", outcome="completed", note="I know.", result="L-1")
    assert answer.status_code == 403
    assert run.fresh().status == "needs_attention"


def test_a_second_settling_finds_it_settled(enter: Enters, mona: Member, acme: Tenant, unknown_run: Play) -> None:
    client = enter(mona)
    client.get("/t/acme/outcomes/")
    with scope(acme.pk):
        commands.settle(unknown_run.run.pk, 2, outcome="not_done", note="No label there.", actor=members.actor_of(mona))
    answer = send(
        client, f"/t/acme/outcomes/{unknown_run.id}-2/settle/", outcome="completed", note="Seen.", result="L-1"
    )
    assert answer.status_code == 409
    assert "The outcome of this step is not unknown." in unescape(answer.content.decode())


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
