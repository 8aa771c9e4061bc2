"""Names that hide something, and names of the world that must not be taken for such."""

import pytest

from tenants.naming import hides

HIDING = [
    "Fin\u200bance",
    "\u202eecnaniF",
    "A\u2066B",
    "\ufeffA",
    "A\nB",
    "A\u00adB",
    "Al\u200cice",
    "\u200d",
    "\u3164",
    "A\u2028B",
    "\U000e0041",
    "A\ud800",
    "A\x00",
]


@pytest.mark.parametrize("name", HIDING)
def test_a_name_that_hides_something_is_found_out(name: str) -> None:
    assert hides(name)


@pytest.mark.parametrize(
    "name", ["Finance leads", "退款审批组", "山田\u3000太郎", "علی\u200cرضا", "שלום", "ශ්\u200dරී", "Zoë 🎉", ""]
)
def test_a_name_of_any_script_is_none(name: str) -> None:
    assert not hides(name)
