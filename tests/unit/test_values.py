"""Parameters as they are shown: in the agent's order, the verdict of a check apart from what goes with it."""

import pytest

from approvals.pages import values

AGENT = '{"order_id":"A-1","amount":"1240.00","note":"cracked"}'
EDITED = '{"note":"by phone","amount":"1240.00","order_id":"A-1"}'


def test_an_edit_leaves_the_parameters_in_the_order_in_which_the_agent_gave_them() -> None:
    assert [str(each.name) for each in values.params(EDITED, AGENT, {})] == ["order_id", "amount", "note"]


def test_a_parameter_that_the_agent_left_out_comes_last() -> None:
    assert list(values.ordered({"limit": 1, "note": "n", "amount": 2}, {"amount": 1, "note": ""})) == [
        "amount",
        "note",
        "limit",
    ]


@pytest.mark.parametrize(
    ("said", "verdict", "about"),
    [
        ("Found. Delivered 2026-11-26.", "Found.", "Delivered 2026-11-26."),
        ("Equals 1240.00 EUR. Refunded: 0.00.", "Equals 1240.00 EUR.", "Refunded: 0.00."),
        ("等于订单总额。此前已退 0.00", "等于订单总额。", "此前已退 0.00"),
        ("Same as the order.", "Same as the order.", ""),
        ("0.5 of 1.0", "0.5 of 1.0", ""),
    ],
)
def test_the_first_sentence_of_a_check_is_its_verdict(said: str, verdict: str, about: str) -> None:
    (param,) = values.params('{"amount":"1"}', '{"amount":"1"}', {}, '{"amount":"' + said + '"}')
    assert (param.checked, param.about) == (verdict, about)
