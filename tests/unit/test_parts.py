"""What a request shares and what is its own come together again as they were."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals import parts
from tenants.actors import ANONYMOUS, COMMAND, SYSTEM, Actor, packed, unpacked, worker
from tenants.ids import new

WORDS = st.text(max_size=8)
TRACES = st.lists(
    st.fixed_dictionaries({"rule": WORDS, "values": st.lists(st.tuples(WORDS, WORDS).map(list)), "error": WORDS}),
    max_size=3,
)


@given(TRACES)
def test_a_requirement_is_whole_again(trace: list[dict[str, Any]]) -> None:
    written = {"outcome": "require_approval", "trace": trace}
    form, own = parts.parted(written)
    assert parts.joined(form, own) == written
    assert all(each["values"] == [] and each["error"] == "" for each in form["trace"])


@pytest.mark.parametrize(
    "run",
    [
        {"id": "7", "title": "Refund", "step": 2, "agent": "desk"},
        {"id": "7", "title": "", "step": 2, "agent": "desk"},
        {"id": "8", "title": "", "step": 3, "agent": "other", "started_by": "Mona"},
    ],
)
@pytest.mark.parametrize("subject", ["run:7", "case:7"])
def test_what_is_said_of_a_run_is_whole_again(run: dict[str, Any], subject: str) -> None:
    where = {"subject": subject, "ref": "2", "agent": "desk"}
    assert parts.run_of(parts.own_run(run, **where), **where) == run


def test_what_other_columns_say_is_not_said_again() -> None:
    run = {"id": "7", "title": "", "step": 2, "agent": "desk"}
    assert parts.own_run(run, subject="run:7", ref="2", agent="desk") == {}


@pytest.mark.parametrize(
    ("actor", "short"),
    [
        (worker("host:1:main"), ["worker", "host:1:main"]),
        (COMMAND, ["command"]),
        (SYSTEM, ["system"]),
        (ANONYMOUS, ["anonymous"]),
        (Actor(kind="person", id="p", name="Alice"), ["person", "p", "Alice"]),
        (Actor(kind="person", id="", name=""), ["person"]),
        (Actor(kind="worker", id="", name="one"), ["worker", None, "one"]),
        (Actor(kind="system", id="other", name="other"), ["system", "other", "other"]),
    ],
)
def test_an_actor_is_kept_in_short_and_read_whole(actor: Actor, short: list[Any]) -> None:
    assert actor.packed() == short
    assert unpacked(short) == actor.as_json()


def test_an_actor_keeps_the_member_behind_it() -> None:
    actor = Actor(kind="key", id="k", name="k", member=new())
    assert unpacked(packed(actor.as_json())) == actor.as_json()


def test_an_actor_from_before_is_read_as_it_is() -> None:
    whole = COMMAND.as_json()
    assert unpacked(whole) == whole
    assert packed({"kind": "person"}) == {"kind": "person"}
