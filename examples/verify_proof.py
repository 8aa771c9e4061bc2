"""Checks the whole record of a run, offline: `python verify_proof.py run-….proof.ndjson [--key PUBLIC_KEY]`.

It needs Python, the library `cryptography` and nothing of the product. It ends with 0 where all holds, else with 1.
"""

import argparse
import base64
import hashlib
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Line = dict[str, Any]
ENTRY = ("tenant", "seq", "at", "actor_kind", "actor_id", "action", "target", "refused", "channel", "content_digest")
ENTRY += ("previous",)


class Wrong(Exception):
    """Something in the file does not hold; the message says what."""


def canonical(value: Any) -> str:
    """The one text of a JSON value: keys sorted by UTF-16 code units, no space, numbers by value and plain."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(key)}:{canonical(value[key])}" for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    return _number(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else json.dumps(value)


def digest(value: Any) -> str:
    """The digest by which the product binds arguments and chains its audit."""
    return hashlib.sha256(canonical({"v": 1, "value": value}).encode()).hexdigest()


def verify(content: bytes, *, key: str | None = None) -> Iterator[str]:
    """What holds, sentence by sentence; raises Wrong at the first thing that does not.

    `key` is the public key of the installation, in base 64, as `manage.py verify_audit` prints it there.
    """
    seal, lines = _sealed(content)
    header = lines[0]
    if key is not None and seal["public_key"] != key:
        raise Wrong(f"The file was sealed under another key: {seal['public_key']}.")
    yield f"The file is whole: {len(lines)} lines, sealed at {header['made_at']} under the key {seal['public_key']}."
    if key is None:
        yield "Compare that key with the one that the installation names; anybody can seal under a key of their own."
    yield from _story(lines)
    yield from _questions(lines)
    yield from _audit(lines, header, _public(seal))
    for what in header["left_out"]:
        yield f"Left out, for the reader had no right to it: {what}."


def _sealed(content: bytes) -> tuple[Line, list[Line]]:
    body, _, last = content.removesuffix(b"\n").rpartition(b"\n")
    try:
        seal, lines = _loads(last), [_loads(line) for line in body.split(b"\n")]
    except ValueError as error:
        raise Wrong(f"A line is no JSON: {error}.") from None
    if not isinstance(seal, dict) or seal.get("kind") != "seal" or lines[0].get("kind") != "header":
        raise Wrong("The file has no seal: it was cut off, or it is no record of a run.")
    if content != body + b"\n" + json.dumps(seal, separators=(",", ":")).encode() + b"\n":
        raise Wrong("The seal was written in another way than the product writes it.")
    found = hashlib.sha256(body + b"\n").hexdigest()
    if (seal["lines"], seal["sha256"]) != (len(lines), found):
        raise Wrong("Something before the seal was changed after it was sealed.")
    statement = f"run-proof 1 {lines[0]['tenant']} {lines[0]['run']} {len(lines)} {found}"
    _signed(_public(seal), seal["signature"], statement, "the seal")
    return seal, lines


def _story(lines: list[Line]) -> Iterator[str]:
    run = next(line for line in lines if line["kind"] == "run")
    steps, events = _of(lines, "step"), _of(lines, "event")
    for what, rows in (("step", steps), ("event", events)):
        if [row["seq"] for row in rows] != list(range(1, len(rows) + 1)):
            raise Wrong(f"The numbers of the {what}s have a gap.")
    checked = [step for step in steps if step["digest"] and not step["digest_keyed"]]
    for step in checked:
        if step["arguments"] is not None and digest(step["arguments"]) != step["digest"]:
            raise Wrong(f"The arguments of step {step['seq']} are not those of its digest.")
    yield f"Run {run['id']} of {run['agent']} {run['version']}: {run['status']}."
    yield f"{len(steps)} steps and {len(events)} events without a gap; {len(checked)} arguments match their digest."


def _questions(lines: list[Line]) -> Iterator[str]:
    steps = {line["seq"]: line for line in _of(lines, "step")}
    rules = {(line["id"], line["version"]) for line in _of(lines, "rule")}
    requests = _of(lines, "request")
    for request in requests:
        _question(request, rules)
        step = steps.get(request["step"], {})
        called = any(attempt["kind"] == "call" for attempt in step.get("attempts", ()))
        if called and step.get("request") == request["id"] and request["status"] == "approved":
            _ran_as_approved(step, request)
    yield f"{len(requests)} requests: every vote is for a version that is here, and what ran is what was approved."


def _question(request: Line, rules: set[tuple[str, int]]) -> None:
    digests = {version["number"]: version for version in request["versions"]}
    for version in request["versions"]:
        if not request["digest_keyed"] and digest(version["arguments"]) != version["digest"]:
            raise Wrong(f"Version {version['number']} of request {request['id']} is not that of its digest.")
    if any(review["version"] not in digests for review in request["reviews"]):
        raise Wrong(f"A vote of request {request['id']} is for a version that is not here.")
    for trace in request["requirement"]["trace"]:
        if trace["rule"] and (trace["rule"], trace["version"]) not in rules:
            raise Wrong(f"The rule {trace['name']}, version {trace['version']}, is not here.")


def _ran_as_approved(step: Line, request: Line) -> None:
    final = next(version for version in request["versions"] if version["number"] == request["version"])
    if step["digest"] != final["digest"]:
        raise Wrong(f"Step {step['seq']} ran other arguments than request {request['id']} approved.")


def _audit(lines: list[Line], header: Line, public: Ed25519PublicKey) -> Iterator[str]:
    entries, heads = _of(lines, "entry"), _of(lines, "head")
    if not heads:
        return
    gaps = []
    for place, entry in enumerate(entries):
        _entry(entry, header, public)
        before = entries[place - 1] if place else None
        if before and before["seq"] + 1 < entry["seq"]:
            gaps.append(f"{before['seq'] + 1} to {entry['seq'] - 1}")
        elif before and (before["seq"] + 1, before["digest"]) != (entry["seq"], entry["previous"]):
            raise Wrong(f"Entry {entry['seq']} of the audit does not follow the one before it.")
    head, last = heads[0], entries[-1]
    _signed(public, head["signature"], f"{header['tenant']} {head['seq']} {head['digest']}", "the head of the audit")
    if head["seq"] < last["seq"] or (head["seq"] == last["seq"] and head["digest"] != last["digest"]):
        raise Wrong("The head of the audit does not name its last entry.")
    if head["seq"] > last["seq"]:
        gaps.append(f"{last['seq'] + 1} to {head['seq']}")
    told = sum("content" in entry for entry in entries)
    yield f"{told} entries of the audit are about it, each signed; the head is entry {head['seq']}, signed."
    if gaps:
        yield f"Not in this file, and proved by the export of the audit only: entries {', '.join(gaps)}."
    else:
        yield f"The chain from entry {entries[0]['seq']} to the head has no gap: nothing was left out of it."
    _decided(entries, _of(lines, "request"))


def _entry(entry: Line, header: Line, public: Ed25519PublicKey) -> None:
    name = f"entry {entry['seq']} of the audit"
    if entry["tenant"] != header["tenant"] or digest({part: entry[part] for part in ENTRY}) != entry["digest"]:
        raise Wrong(f"There is something wrong with {name}: its digest is another.")
    content = entry.get("content")
    if content is not None and hashlib.sha256(content.encode()).hexdigest() != entry["content_digest"]:
        raise Wrong(f"The content of {name} was changed.")
    _signed(public, entry["signature"], f"{entry['tenant']} {entry['seq']} {entry['digest']}", name)


def _decided(entries: list[Line], requests: list[Line]) -> None:
    """Each vote has its entry in the audit, with the same version and digest. Blanked content says nothing."""
    found = set()
    for entry in entries:
        if entry["action"] == "approval.decided" and not entry["refused"] and entry.get("content"):
            detail = _loads(entry["content"].encode())["detail"]
            found.add((entry["target"], detail["decision"], detail["version"], detail["digest"]))
    if any("content" in entry and entry["content"] is None for entry in entries):
        return
    for request in requests:
        digests = {version["number"]: version["digest"] for version in request["versions"]}
        for review in request["reviews"]:
            vote = (f"request:{request['id']}", review["decision"], review["version"], digests[review["version"]])
            if review["channel"] != "carried" and vote not in found:
                raise Wrong(f"A vote of request {request['id']} has no entry in the audit.")


def _signed(public: Ed25519PublicKey, signature: str, statement: str, name: str) -> None:
    try:
        public.verify(_bytes(signature), statement.encode())
    except (InvalidSignature, ValueError):
        raise Wrong(f"The signature of {name} does not hold.") from None


def _public(seal: Line) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(_bytes(seal["public_key"]))
    except ValueError:
        raise Wrong("The public key in the seal is none.") from None


def _bytes(text: str) -> bytes:
    found = base64.b64decode(text, validate=True)
    if base64.b64encode(found).decode() != text:
        raise ValueError("Some letters of it say nothing.")
    return found


def _of(lines: list[Line], kind: str) -> list[Line]:
    return [line for line in lines if line["kind"] == kind]


def _loads(text: bytes) -> Any:
    return json.loads(text.decode(), parse_float=Decimal)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: int | Decimal) -> str:
    if isinstance(value, int):
        return str(value)
    text = format(value, "f") if value else "0"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main() -> int:
    """The check of one file, told on standard output."""
    parser = argparse.ArgumentParser(description="Checks the whole record of a run, offline.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", help="the public key of the installation, in base 64")
    asked = parser.parse_args()
    try:
        for sentence in verify(asked.file.read_bytes(), key=asked.key):
            print(f"holds  {sentence}")
    except Wrong as wrong:
        print(f"WRONG  {wrong}")
        return 1
    except (KeyError, TypeError, AttributeError, IndexError, StopIteration) as error:
        print(f"WRONG  The file is not as the product writes it: {error!r}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
