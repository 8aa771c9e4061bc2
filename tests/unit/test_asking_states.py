"""The states of a request and a delivery: the listed transitions, and no other."""

import pytest

from approvals import states

REQUEST = ["pending", "approved", "rejected", "responded", "expired", "cancelled", "superseded"]


@pytest.mark.parametrize("before", ["", *REQUEST])
@pytest.mark.parametrize("after", REQUEST)
def test_a_request_moves_only_as_listed(before: str, after: str) -> None:
    listed = {("", "pending"), ("approved", "superseded")} | {("pending", end) for end in REQUEST[1:]}
    assert states.allowed(states.REQUEST, before, after) is ((before, after) in listed)


@pytest.mark.parametrize("before", ["", "pending", "sending", "sent", "given_up"])
@pytest.mark.parametrize("after", ["pending", "sending", "sent", "given_up"])
def test_a_delivery_moves_only_as_listed(before: str, after: str) -> None:
    listed = {("", "pending"), ("pending", "sending"), ("pending", "given_up")}
    listed |= {("sending", end) for end in ("sent", "pending", "given_up")}
    assert states.allowed(states.DELIVERY, before, after) is ((before, after) in listed)


def test_every_end_has_its_event() -> None:
    assert set(states.EVENTS) == states.FINISHED
    assert all(name == f"approval.{state}" for state, name in states.EVENTS.items())
