"""What people do on the page of a run, by plain forms."""

from html import unescape

import pytest

from tenants.models import AuditEntry, Member, Tenant
from tenants.scope import scope
from tests.cast.plays import Play
from tests.cast.run_pages import Enters, Plays, read, send, url, words


def test_an_initiator_may_stop_and_nothing_else(enter: Enters, ravi: Member, play: Plays) -> None:
    html = read(enter(ravi), url(play(by=ravi)))
    assert "cancel/" in html
    assert "pause/" not in html


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
    for opened in (client.get(url(parked_run, verb)), client.head(url(parked_run, verb))):
        assert (opened.status_code, opened.headers["Location"]) == (302, url(parked_run))
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
