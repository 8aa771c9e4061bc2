"""What came of a call whose answer never came: the desk, what is stated there, and where that is told."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from runs import commands, telling
from runs.models import Step
from runs.views import story
from tenants import events, members
from tenants.models import Event, Member, Tenant
from tenants.scope import scope
from tests.cast.plays import Play
from tests.cast.run_pages import Enters, Plays, read, send, url, words
from tests.cast.runs import decide


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


def test_calls_of_one_title_are_told_apart_in_the_list(enter: Enters, mona: Member, play: Plays) -> None:
    sent = [("label", {"order": "A-2", "card": card, "weight": card[-1]}) for card in ("4111", "4222")]
    for run in (play(title="Monday"), play(title="Tues\u202eday")):
        run.begin()
        for step in run.wants(*sent):
            run.lost(step)
        run.attention("unknown_outcome")
    html = read(enter(mona), "/t/acme/outcomes/").partition('id="rest"')[2]
    names = [words(link).strip() for link in re.findall(r'<a href="[^"]*\?step=[^>]*>(.*?)</a>', html, re.DOTALL)]
    assert len(names) == len(set(names)) == 3
    assert re.fullmatch(r"Make a label for A-2 Monday , step 3, weight 2 , [\d:]{8}", names[0]), names[0]
    assert re.search(r"weight 2 , [\d:]{8} [\d:]{8} outcome unknown", words(html))
    assert not any("4111" in name or "4222" in name for name in names)
    assert "1 hidden character : right-to-left override" in words(html)


def test_an_outcome_is_settled_by_a_plain_form(enter: Enters, mona: Member, acme: Tenant, unknown_run: Play) -> None:
    client = enter(mona)
    path = f"/t/acme/outcomes/{unknown_run.id}-2/settle/"
    answer = send(client, path, outcome="completed", note="Seen in the portal.", result="L-77")
    assert (answer.status_code, answer["Location"]) == (303, "/t/acme/outcomes/")
    page = read(client, "/t/acme/outcomes/")
    text, desk = words(page), page.partition('id="desk"')
    assert "Nothing to settle" in text
    assert "Settled by Mona: “ Seen in the portal. ”" in text
    assert "Recorded: it happened." in text
    assert "Recorded" in desk[0]
    assert 'hx-target="#desk" hx-select="#desk"' in desk[2], "what happens next must not take the words away"
    assert "Recorded: it happened." not in words(read(client, "/t/acme/outcomes/"))
    with scope(acme.pk):
        (event,) = [row for row in events.after(unknown_run.subject, 0, 50) if row.name == "step.settled"]
    assert event.data["outcome"] == "completed"


@pytest.mark.parametrize("broken", ['{"label": "L-1"', '["L-1", ', '"L-1', '{"a": 1, "a": 2}'])
def test_a_result_that_begins_like_json_and_is_broken_is_refused_and_stays_in_its_field(
    enter: Enters, mona: Member, unknown_run: Play, broken: str
) -> None:
    client = enter(mona)
    assert "JSON, or plain text, which the agent gets as a text." in words(read(client, "/t/acme/outcomes/"))
    path = f"/t/acme/outcomes/{unknown_run.id}-2/settle/"
    answer = send(client, path, outcome="completed", note="Seen in the portal.", result=broken)
    assert (answer.status_code, unknown_run.fresh().status) == (422, "needs_attention")
    html = unescape(answer.content.decode())
    assert "Correct it, or write plain text that does not begin with a bracket or a double quote." in html
    assert re.search(rf'name="result"[^>]*aria-invalid="true">\s*{re.escape(broken)}</textarea>', html)
    assert "Seen in the portal.</textarea>" in html


@pytest.mark.parametrize(("typed", "kept"), [("L-1", '"L-1"'), (' {"label": "L-1"}\n', '{"label": "L-1"}'), ("7", "7")])
def test_plain_text_is_kept_as_a_json_string_and_json_as_it_is(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play, typed: str, kept: str
) -> None:
    path = f"/t/acme/outcomes/{unknown_run.id}-2/settle/"
    assert send(enter(mona), path, outcome="completed", note="Seen.", result=typed).status_code == 303
    with scope(acme.pk):
        assert Step.objects.get(run_id=unknown_run.run.pk, seq=2).result == kept


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


def lost_again(run: Play, manager: Member) -> None:
    """The manager has step 2 done again, and its answer is lost once more."""
    with scope(run.tenant.pk):
        commands.settle(run.run.pk, 2, outcome="do_again", note="Not there.", actor=members.actor_of(manager))
    run.take()
    run.lost(2)
    run.attention("unknown_outcome")


def test_a_call_that_became_unknown_again_is_told_from_then_on(
    enter: Enters, mona: Member, acme: Tenant, unknown_run: Play
) -> None:
    lost_again(unknown_run, mona)
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
    lost_again(unknown_run, mona)
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
