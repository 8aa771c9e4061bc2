"""A request freezes what the agent had seen: the results before the turn that made the call, and none after."""

from collections.abc import Callable

from runs import journal, seen
from tenants.models import Tenant
from tenants.scope import scope
from tests.cast.plays import Play

LOOK = ("look_up", {"order": "A-1"})
REFUND = ("refund", {"order": "A-1", "amount": "12.50"})


def told(tenant: Tenant, run: Play, step: int) -> list[dict[str, object]]:
    with scope(tenant.pk):
        current = journal.load(tenant.pk, run.run.pk)
        return list(seen.told(current, current.step(step)))


def test_the_results_before_the_turn_are_told_oldest_first_with_their_time_and_step(
    acme: Tenant, play: Callable[..., Play]
) -> None:
    run = play().begin()
    first, second = run.wants(LOOK, LOOK)
    run.done(first, {"order": "A-1", "paid": 9007199254740993})
    run.done(second, "x" * 5000)
    run.again()
    (refund,) = run.wants(REFUND)
    found = told(acme, run, refund)
    assert [(each["tool"], each["step"]) for each in found] == [("look_up", first), ("look_up", second)]
    assert found[0]["text"] == '{"order":"A-1","paid":9007199254740993}'
    assert found[1]["text"] == '"' + "x" * (seen.LONGEST - 1) + "…"
    assert [each.get("cut", False) for each in found] == [False, True]
    assert all(str(each["at"]) for each in found)


def test_a_sibling_of_the_same_turn_had_not_been_seen(acme: Tenant, play: Callable[..., Play]) -> None:
    run = play().begin()
    look, refund = run.wants(LOOK, REFUND)
    run.done(look, {"found": True})
    assert told(acme, run, refund) == []


def test_only_the_last_five_are_told(acme: Tenant, play: Callable[..., Play]) -> None:
    run = play().begin()
    for number in range(seen.MOST + 2):
        (look,) = run.wants(LOOK)
        run.done(look, number)
        run.again()
    (refund,) = run.wants(REFUND)
    assert [each["text"] for each in told(acme, run, refund)] == ["2", "3", "4", "5", "6"]
