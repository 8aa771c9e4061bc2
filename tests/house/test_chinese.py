"""The Chinese of the pages: its own punctuation, one word for one thing, every event in words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from approvals.event_words import EVENT_WORDS
from tenants.event_names import NAMES

ROOT = Path(__file__).resolve().parents[2]
CJK = r"[\u3001\u3002\u4e00-\u9fff\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
HALF = re.compile(rf"(?<={CJK})([,;:?!](?={CJK}|\s|$)|[()](?={CJK})|\.$)", re.MULTILINE)
BETWEEN = re.compile(r"[}>]\s*[,;:](?=\s)|[”»]\.")
"""Punctuation that a template writes itself: whatever stands on both its sides, it is Latin in every language."""
ONE_WORD = {"认定": "裁定", "现行": "生效", "经理": "主管", "渠道": "频道"}


def chinese() -> Iterator[str]:
    with (ROOT / "locale/zh_Hans/LC_MESSAGES/django.po").open("rb") as file:
        for message in read_po(file):
            told = message.string if isinstance(message.string, (tuple, list)) else [message.string]
            yield from (text for text in told if message.id and text)


def untranslated(template: Path) -> str:
    """What a template says in no language's words."""
    text = re.sub(r"\{% comment %\}.*?\{% endcomment %\}", "", template.read_text(), flags=re.DOTALL)
    return re.sub(r"\{% blocktranslate.*?\{% endblocktranslate %\}", "{}", text, flags=re.DOTALL)


def test_chinese_sentences_have_chinese_punctuation() -> None:
    assert [text for text in chinese() if HALF.search(text)] == []


@pytest.mark.parametrize("text", ["不明, 请裁定", "为什么?", "类型:退款", "停止;再试", "停!", "很好.", "说明(选填)"])
def test_half_width_punctuation_is_seen(text: str) -> None:
    assert HALF.search(text)


@pytest.mark.parametrize("text", ["写作 !，放在前面", "has() 按路径", "12:30 之后", "runs:read、a:b", "1.5 版"])
def test_what_is_code_or_a_number_is_left_alone(text: str) -> None:
    assert not HALF.search(text)


def test_no_template_writes_punctuation_of_its_own_between_words() -> None:
    templates = [path for path in (ROOT / "templates").rglob("*") if path.suffix in (".html", ".txt")]
    assert len(templates) > 100
    assert {str(path.relative_to(ROOT)) for path in templates if BETWEEN.search(untranslated(path))} == set()


def test_one_thing_has_one_word() -> None:
    assert [text for text in chinese() if any(other in text for other in ONE_WORD)] == []


def test_every_event_has_its_words() -> None:
    assert list(EVENT_WORDS) == list(NAMES)
