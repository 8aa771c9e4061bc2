"""Every template compiles, keeps to the strict policy and says its words through the catalogs."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines

ROOT = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.html"))
FORBIDDEN = {
    "a style attribute": r"<[^>]*\sstyle\s*=",
    "a style element": r"<style\b",
    "a script without a file": r"<script(?![^>]*(?:\ssrc=|application/json))",
    "an event attribute": r"<[^>]*\son[a-z]+\s*=",
    "htmx code that needs eval": r"hx-on|hx-vars|hx-vals=['\"]js:|hx-trigger=['\"][^'\"]*\[",
    "text marked as safe": r"\|\s*safe\b",
}
MAY = {"mfa/totp/activate_form.html": {"text marked as safe"}}  # The picture of the secret, made by the library.


@pytest.mark.parametrize("name", TEMPLATES)
def test_it_compiles(name: str) -> None:
    engines["django"].get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_it_keeps_to_the_policy(name: str) -> None:
    text = (ROOT / name).read_text()
    found = {what for what, pattern in FORBIDDEN.items() if re.search(pattern, text)}
    assert found <= MAY.get(name, set())


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name.startswith("inline/")])
def test_what_stands_inside_a_sentence_ends_without_a_line_break(name: str) -> None:
    assert not (ROOT / name).read_text().endswith("\n")


@pytest.mark.parametrize("name", TEMPLATES)
def test_its_words_come_from_the_catalogs(name: str) -> None:
    text = re.sub(r"{% comment %}.*?{% endcomment %}", "", (ROOT / name).read_text(), flags=re.DOTALL)
    text = re.sub(r"{% blocktrans(late)?\b.*?{% endblocktrans(late)? %}", "", text, flags=re.DOTALL)
    text = re.sub(r"{%.*?%}|{{.*?}}|<svg.*?</svg>|<kbd.*?</kbd>", "", text, flags=re.DOTALL)
    bare = re.findall(r">([^<>]*[A-Za-z]{3,}[^<>]*)<", text.replace("Vermilion", ""))
    assert bare == []
