"""Why a call came back is told in the reader's language, also where the engine kept it in English."""

import inspect
import re

import pytest
from django.utils import translation

from approvals.pages import moved
from runs import dispatch, gate

KEPT = [*moved.PLAIN, "The tool {wanted.tool.name} is defined differently than when this was approved."]


@pytest.mark.parametrize("kept", KEPT)
def test_what_the_engine_keeps_is_told_in_chinese(kept: str) -> None:
    assert kept in inspect.getsource(gate) + inspect.getsource(dispatch)
    with translation.override("zh-hans"):
        told = moved.why(kept.replace("{wanted.tool.name}", "refund"))
    assert not re.search("[a-z]{3}", told.replace("refund", ""))
    assert moved.why(kept) == kept


def test_what_is_not_known_stands_as_it_was_kept() -> None:
    assert moved.why("moved") == "moved"
