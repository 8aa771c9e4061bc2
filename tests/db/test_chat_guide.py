"""The program that the guide shows is run as it stands there: what it signs is an answer, whatever else is refused."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from approvals import channel_people, channels
from approvals.models import ApprovalRequest
from tenants.models import Member, Tenant
from tenants.scope import scope
from tests.cast.people import actor
from tests.cast.requests import fresh

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
GUIDE = (Path(__file__).parents[2] / "docs/how-to/connect-chat.md").read_text()


def test_it_answers_a_request_and_a_wrong_secret_does_not(
    live_server: Any, acme: Tenant, ravi: Member, alice: Member, parked: ApprovalRequest, tmp_path: Path
) -> None:
    with scope(acme.pk):
        made = channels.add_chat(actor=actor(ravi), kind="slack", name="refunds", url="slack://A/B/C")
        channel_people.bind(made.channel, actor=actor(ravi), member=alice.email, external_id="U024BE7LH")
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "answer.py"
    path.write_text(program)

    def answered(secret: str) -> tuple[str, dict[str, Any]]:
        where = f"{live_server.url}/callbacks/acme/refunds"
        words = [sys.executable, str(path), where, str(parked.pk), "U024BE7LH", "approve", "Seen", "in", "the", "shop."]
        env = {**os.environ, "CHANNEL_SECRET": secret}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
        status, _space, body = done.stdout.partition(" ")
        return status, json.loads(body)

    assert answered("whsec_" + "A" * 43 + "=")[0] == "401"
    assert fresh(parked).status == "pending"
    status, body = answered(made.secret)
    assert (status, body["request"]["status"]) == ("201", "approved")
    status, body = answered(made.secret)
    assert (status, body["standing"]["status"]) == ("409", "approved")
