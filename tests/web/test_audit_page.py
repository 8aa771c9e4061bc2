"""The page of the audit: in words who did what by which key, who was refused what and why, and about what exactly."""

import re
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from tenants import ids, keys
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.plays import Play
from tests.web.test_admin_pages import People, enter, people, read, send, words

__all__ = ["people"]


def test_the_audit_says_in_words_who_was_refused_what_and_why(acme: Tenant, people: People, parked_run: Play) -> None:
    send(enter(people["alice"]), f"runs/{parked_run.id}/pause/")
    send(enter(people["alice"]), "settings/keys/", name="mine")
    send(enter(people["mona"]), "settings/nowhere/")
    client = enter(people["ravi"])
    text = words(read(client, "audit/?what=refusals"))
    assert "wanted to pause the run Broken cup" in text
    assert "Their role or key does not allow it." in text
    assert "wanted to make a key" in text
    assert "asked for what was refused: POST /t/acme/settings/nowhere/" in text
    assert "There is nothing at this address." in text
    with scope(acme.pk):
        Member.objects.filter(pk=people["ravi"].pk).update(locale="zh-hans")
    text = words(read(client, "audit/?what=refusals"))
    assert "想要暂停运行 Broken cup" in text
    assert "此人的角色不允许。" in text


def test_the_audit_says_what_was_set_and_settled(acme: Tenant, people: People, unknown_run: Play) -> None:
    path = f"outcomes/{unknown_run.id}-2/settle/"
    send(enter(people["mona"]), path, outcome="completed", note="Seen.", no_result="1")
    client = enter(people["ravi"])
    send(client, "settings/tools/refund/", enabled="1", risk="critical")
    send(client, "settings/tools/refund/", enabled="0", risk="critical")
    send(client, "settings/agents/clerk/", enabled="0")
    text = words(read(client, "audit/"))
    assert "settled as done step 2 of the run Lost answer" in text
    assert "set the risk of the tool refund" in text
    assert "switched off the tool refund" in text
    assert "switched off the agent clerk" in text


def test_the_audit_tells_runs_of_one_title_apart_and_shows_all_about_one(
    acme: Tenant, people: People, play: Any
) -> None:
    runs = [play(title="Broken cup").run.id for _number in range(2)]
    send(enter(people["mona"]), f"runs/{runs[0]}/pause/")
    send(enter(people["alice"]), f"runs/{runs[0]}/cancel/")
    client = enter(people["ravi"])
    marks = [ids.reference(run) for run in runs]
    assert marks[0] != marks[1]
    assert f"paused the run Broken cup {marks[0]}" in words(read(client, "audit/"))
    about = words(read(client, f"audit/?about=run:{runs[0]}"))
    assert f"Only entries about: Broken cup {marks[0]}." in about
    assert "wanted to stop the run Broken cup" in about
    assert marks[1] not in about
    assert "No entry matches." in read(client, f"audit/?about=run:{ids.new()}")
    assert f"/t/acme/runs/{runs[0]}/" not in read(client, "audit/")
    assert marks[0] in read(enter(people["mona"]), f"runs/{runs[0]}/")


def test_the_audit_and_the_page_of_keys_tell_two_keys_of_one_person_apart(acme: Tenant, people: People) -> None:
    with scope(acme.pk):
        made = [keys.create(people["ravi"], actor=COMMAND, scopes=["settings:write"], name=n) for n in ("day", "day")]
    for number, (_key, text) in enumerate(made):
        bearer = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
        Client().post("/api/v1/groups", {"name": f"G{number}"}, content_type="application/json", **bearer)
    marks = [keys.mark(key.pk) for key, _text in made]
    assert all(text.rpartition("_")[0].endswith(mark[1:]) for mark, (_key, text) in zip(marks, made, strict=True))
    client = enter(people["ravi"])
    text = words(read(client, "audit/"))
    for mark in marks:
        assert re.search(rf"command line made the key day {mark} all entries about it command ", text)
    for number, mark in enumerate(marks):
        assert f"with the key “day” {mark} made the group G{number}" in text
        only = words(read(client, f"audit/?{urlencode({'who': mark})}"))
        assert f"made the group G{number}" in only
        assert f"made the group G{1 - number}" not in only
        assert f"day {mark}" in words(read(client, "settings/keys/"))
    assert read(client, "settings/keys/").count("Last entry") == len(marks)
