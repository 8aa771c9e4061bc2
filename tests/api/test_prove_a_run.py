"""The whole record of a run: what is in it, who gets it, and that it proves itself to somebody who has nothing else."""

import base64
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from django.test import Client

from examples import verify_proof
from runs import commands
from tenants import agents, audit_part, exact_json, signing
from tenants.actors import COMMAND
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.api.conftest import ApiClient
from tests.cast.people import Key, actor, make_key
from tests.cast.plays import Play
from tests.cast.requests import rule
from tests.cast.runs import decide, requests

Api = Callable[[Key | None], ApiClient]
Line = dict[str, Any]
SCRIPT = Path(settings.BASE_DIR) / "examples" / "verify_proof.py"


@pytest.fixture
def ended(play: Callable[..., Play], acme: Tenant, alice: Member, bo: Member, mona: Member) -> Play:
    """A refund that a rule held, that Bo commented on and Alice approved, in a run that came to its end."""
    rule(acme, mona, "Refunds", tools=["refund"], outcome="require_approval", approvals=1)
    run = play(title="Broken cup").begin()
    look, refund = run.wants(("look_up", {"order": "A-1"}), ("refund", {"order": "A-1", "amount": "12.50"}))
    run.done(look, {"found": True, "price": 1})
    (request,) = run.park(refund)
    play(by=mona, title="Of no concern")
    with scope(acme.pk):
        commands.comment(run.run.pk, text="Looks right.", actor=actor(bo), channel="page")
    decide(alice, request)
    run.take()
    run.done(refund, {"paid": True})
    run.again()
    run.finish("Paid back.")
    return run


@pytest.fixture
def proof(api: Api, ravi_key: Key) -> Callable[..., bytes]:
    """The file, as an admin's key gets it or another."""

    def ask(run: Play, key: Key = ravi_key) -> bytes:
        response = api(key).get(f"/runs/{run.id}/proof")
        assert response.status_code == 200, response.content
        return b"".join(response.streaming_content)  # type: ignore[attr-defined]

    return ask


def lines(content: bytes) -> list[Line]:
    return [exact_json.loads(line) for line in content.splitlines()]


def of(content: bytes, kind: str) -> list[Line]:
    return [line for line in lines(content) if line["kind"] == kind]


def said(content: bytes, key: str | None = None) -> str:
    return "\n".join(verify_proof.verify(content, key=key))


def test_it_tells_the_whole_story(proof: Callable[..., bytes], ended: Play) -> None:
    content = proof(ended)
    kinds = list(dict.fromkeys(line["kind"] for line in lines(content)))
    assert kinds == ["header", "run", "step", "event", "request", "rule", "entry", "head", "seal"]
    (run,), (request,) = of(content, "run"), of(content, "request")
    assert (run["id"], run["status"], run["input"], run["result"]) == (ended.id, "succeeded", "go", "Paid back.")
    assert [(step["step"], step["status"]) for step in of(content, "step")] == [
        ("model_turn", "completed"),
        ("tool_call", "completed"),
        ("tool_call", "completed"),
        ("model_turn", "completed"),
    ]
    assert {"number": 1, "fence": 2}.items() <= of(content, "step")[2]["attempts"][0].items()
    assert [(review["name"], review["version"], review["counts"]) for review in request["reviews"]] == [
        ("Alice", 1, True)
    ]
    assert request["versions"][0]["arguments"] == {"order": "A-1", "amount": "12.50"}
    assert {each["name"] for each in of(content, "rule")} >= {"Refunds"}
    assert [event["seq"] for event in of(content, "event")] == list(range(1, len(of(content, "event")) + 1))


def test_the_audit_leads_from_the_runs_start_to_the_signed_head(proof: Callable[..., bytes], ended: Play) -> None:
    content = proof(ended)
    entries = of(content, "entry")
    about = [entry["action"] for entry in entries if "content" in entry]
    assert about == ["run.started", "run.commented", "approval.decided"]
    assert "run.started" in [entry["action"] for entry in entries if "content" not in entry]
    assert [entry["seq"] for entry in entries][-1] == of(content, "head")[0]["seq"]
    assert "has no gap: nothing was left out of it" in said(content, signing.public_key())


def test_a_chain_too_long_to_carry_says_which_entries_are_elsewhere(
    proof: Callable[..., bytes], ended: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_part, "LINKS", 1)
    content = proof(ended)
    assert all("content" in entry for entry in of(content, "entry"))
    assert "proved by the export of the audit only: entries" in said(content)


def test_it_verifies_with_python_and_one_library_alone(
    proof: Callable[..., bytes], ended: Play, tmp_path: Path
) -> None:
    path = tmp_path / "run.proof.ndjson"
    path.write_bytes(proof(ended))

    def verify(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(SCRIPT), str(path), *more]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    good = verify("--key", signing.public_key())
    assert (good.returncode, good.stderr) == (0, "")
    assert "what ran is what was approved" in good.stdout
    path.write_bytes(path.read_bytes().replace(b"12.50", b"12.51", 1))
    bad = verify()
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout.startswith("WRONG")


def test_one_byte_changed_anywhere_is_found(proof: Callable[..., bytes], ended: Play) -> None:
    content = proof(ended)
    seal = content.rindex(b"\n", 0, -1) + 1
    places = [*range(0, seal, 97), seal - 1, *range(seal, len(content))]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1
        with pytest.raises((verify_proof.Wrong, KeyError, TypeError)):
            said(bytes(changed))


def test_what_is_cut_off_or_has_a_line_less_is_found(proof: Callable[..., bytes], ended: Play) -> None:
    whole = proof(ended).splitlines(keepends=True)
    for place in range(len(whole)):
        with pytest.raises(verify_proof.Wrong):
            said(b"".join(whole[:place] + whole[place + 1 :]))


class Forger:
    """Somebody with the file and no key of the installation, who seals what they changed under a key of their own."""

    def __init__(self) -> None:
        self.key = Ed25519PrivateKey.generate()

    def seal(self, changed: list[Line]) -> bytes:
        body = "".join(exact_json.dumps(line) + "\n" for line in changed[:-1]).encode()
        digest = hashlib.sha256(body).hexdigest()
        count = len(changed) - 1
        text = f"run-proof 1 {changed[0]['tenant']} {changed[0]['run']} {count} {digest}"
        public = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        seal = {"kind": "seal", "lines": count, "sha256": digest, "public_key": base64.b64encode(public).decode()}
        seal["signature"] = base64.b64encode(self.key.sign(text.encode())).decode()
        return body + exact_json.dumps(seal).encode() + b"\n"


def test_a_forger_is_told_by_the_key_and_by_the_audit(proof: Callable[..., bytes], ended: Play) -> None:
    forged = Forger().seal(lines(proof(ended)))
    with pytest.raises(verify_proof.Wrong, match="another key"):
        said(forged, signing.public_key())
    with pytest.raises(verify_proof.Wrong, match="signature of entry"):
        said(forged)


@pytest.mark.parametrize(
    ("kind", "change", "fault"),
    [
        ("step", lambda line: line["arguments"] and line["arguments"].update(order="A-2"), "not those of its digest"),
        ("event", lambda line: line.update(seq=line["seq"] + 1), "gap"),
        ("request", lambda line: line["versions"][0]["arguments"].update(amount="9"), "not that of its digest"),
        ("request", lambda line: line["reviews"][0].update(version=2), "a version that is not here"),
        ("rule", lambda line: line.update(version=99), "is not here"),
        ("request", lambda line: line["reviews"][0].update(decision="reject"), "no entry in the audit"),
        ("entry", lambda line: line.update(actor_id="somebody"), "its digest is another"),
        ("entry", lambda line: "content" in line and line.update(content="{}"), "was changed"),
    ],
)
def test_even_under_the_right_seal_the_parts_must_fit_each_other(
    proof: Callable[..., bytes], ended: Play, monkeypatch: pytest.MonkeyPatch, kind: str, change: Any, fault: str
) -> None:
    """As if the installation itself had been made to seal a story that is not the one it recorded."""
    changed = lines(proof(ended))
    for line in changed:
        if line["kind"] == kind:
            change(line)
    forger = Forger()
    monkeypatch.setattr(verify_proof, "_signed", lambda *_given: None)
    with pytest.raises(verify_proof.Wrong, match=fault):
        said(forger.seal(changed))


def test_a_sensitive_argument_is_in_no_line(
    proof: Callable[..., bytes], unknown_run: Play, mona: Member, mona_key: Key
) -> None:
    for key in (mona_key, None):
        content = proof(unknown_run, key) if key else proof(unknown_run)
        assert b"4111" not in content
        (step,) = (line for line in of(content, "step") if line["tool"] == "label")
        assert (step["arguments"]["card"], step["digest_keyed"]) == ("•••", True)
        assert "without a gap" in said(content)


def test_an_admin_gets_all_of_any_run_and_others_what_they_may_read(
    proof: Callable[..., bytes], api: Api, ended: Play, mona_key: Key, alice_key: Key, ravi: Member, stranger_key: Key
) -> None:
    for key in (mona_key, alice_key):
        content = proof(ended, key)
        assert of(content, "request")
        assert of(content, "entry") == of(content, "head") == []
        assert "Left out, for the reader had no right to it: the audit." in said(content)
    with scope(ended.tenant.pk):
        agents.switch("clerk", actor=COMMAND, restricted=True)
    path = f"/runs/{ended.id}/proof"
    assert api(mona_key).get(path).status_code == 404
    assert proof(ended)
    assert api(make_key(ravi, "runs:read")).get(path).status_code == 404
    assert api(make_key(ravi, "settings:read")).get(path).status_code == 403
    foreign = [api(stranger_key).get(f"/runs/{key}/proof") for key in (ended.id, ended.id[:-4] + "0000", "none")]
    assert {(answer.status_code, answer.content) for answer in foreign} == {(404, foreign[0].content)}


def test_the_file_of_a_run_that_goes_on_is_sealed_as_it_stands(proof: Callable[..., bytes], parked_run: Play) -> None:
    content = proof(parked_run)
    assert requests(parked_run.tenant, parked_run.run.pk)
    assert "waiting_approval" in said(content, signing.public_key())


def test_its_page_leads_to_it(client: Client, ended: Play, mona: Member) -> None:
    client.force_login(mona.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    page = client.get(f"/t/acme/runs/{ended.id}/").content.decode()
    assert f'href="/t/acme/runs/{ended.id}/proof/"' in page
    response = client.get(f"/t/acme/runs/{ended.id}/proof/")
    assert response["Content-Disposition"] == f'attachment; filename="run-{ended.id}.proof.ndjson"'
    assert "Left out" in said(b"".join(response.streaming_content))  # type: ignore[attr-defined]


def test_the_audits_page_leads_an_admin_to_it(client: Client, ended: Play, ravi: Member) -> None:
    client.force_login(ravi.person, backend="allauth.account.auth_backends.AuthenticationBackend")
    content = client.get("/t/acme/audit/?what=decisions").content.decode()
    entry = content.split("/t/acme/audit/?what=decisions&amp;entry=")[1].split("#")[0]
    page = client.get(f"/t/acme/audit/?entry={entry}").content.decode()
    assert f'href="/t/acme/runs/{ended.id}/proof/"' in page
    answer = client.get(f"/t/acme/runs/{ended.id}/proof/")
    assert "the head is entry" in said(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
