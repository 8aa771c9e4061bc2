"""What is written to the log, and what is not."""

import io
import json
import logging
import logging.config

import pytest

from config.logs import configuration, mask


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("key vm_abc_def_ghijk-lm was used", "key vm_abc_*** was used"),
        ("Authorization: Bearer abc.def.ghi", "Authorization: *** ***"),
        ("sent Bearer abc.def.ghi", "sent Bearer ***"),
        ("OPENAI sk-proj-abcdefgh12345", "OPENAI sk-***"),
        ("signs with whsec_abcd+efgh/ijkl=", "signs with whsec_***"),
        ("postgresql://app:pa55w0rd@db/x", "postgresql://app:***@db/x"),
        ("{'password': 'hunter2', 'name': 'x'}", "{'password': '***', 'name': 'x'}"),
        ("?token=abcdef&x=1", "?token=***&x=1"),
        ("Not Found: /l/eyJhIjoxfQ:1tXyZ0:" + "k" * 43, "Not Found: /l/***"),
        ("digest /" + "a1" * 32, "digest /" + "a1" * 32),
        ("run 01890a5d-ac96-774b-bcce-b302099a8057", "run 01890a5d-ac96-774b-bcce-b302099a8057"),
    ],
)
def test_a_secret_is_hidden_and_the_rest_stays(said: str, written: str) -> None:
    assert mask(said) == written


def lines(form: str) -> tuple[logging.Logger, io.StringIO]:
    wanted = configuration(level="INFO", form=form)
    formatter = wanted["formatters"]["line"]
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter.pop("()")(**formatter))
    logger = logging.Logger("runs.engine")
    logger.addHandler(handler)
    return logger, stream


def test_a_traceback_is_masked_too() -> None:
    logger, stream = lines("text")
    try:
        raise ValueError("the key vm_abc_def_ghijk is unknown")
    except ValueError:
        logger.exception("a call failed")
    assert "vm_abc_***" in stream.getvalue()
    assert "ghijk" not in stream.getvalue()
    assert "Traceback" in stream.getvalue()


def test_json_lines_parse() -> None:
    logger, stream = lines("json")
    logger.info("run %s went on", "x")
    entry = json.loads(stream.getvalue())
    assert entry["event"] == "run x went on"
    assert entry["logger"] == "runs.engine"
    assert entry["level"] == "info"
