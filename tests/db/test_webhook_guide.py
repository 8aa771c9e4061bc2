"""The receiver that the guide shows is run as it stands there: it believes what is signed, and that alone."""

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from approvals import channels
from approvals.notifications import delivery
from tenants.models import Member, Tenant
from tenants.scope import scope
from tenants.secrets import reveal
from tests.cast.people import actor
from tests.cast.requests import park

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
GUIDE = (Path(__file__).parents[2] / "docs/how-to/receive-webhooks.md").read_text()


@pytest.fixture
def made(acme: Tenant, ravi: Member, settings: Any) -> channels.Made:
    settings.OUTBOUND_NETWORKS = ["127.0.0.0/8"]
    with scope(acme.pk):
        return channels.add_webhook(actor=actor(ravi), url="http://127.0.0.1:1/", events=["approval.requested"])


@pytest.fixture
def shown(made: channels.Made, ravi: Member, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """The guide's program, and the webhook leads to it."""
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "receiver.py"
    path.write_text(program)
    env = {**os.environ, "WEBHOOK_SECRET": made.secret}
    process = subprocess.Popen([sys.executable, str(path), "0"], env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline())
    with scope(ravi.tenant_id):
        channels.change(made.channel, actor=actor(ravi), changes={"url": f"http://127.0.0.1:{port}/vermilion"})
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_it_prints_what_was_signed_once_and_refuses_the_rest(
    acme: Tenant, ravi: Member, made: channels.Made, shown: "subprocess.Popen[str]"
) -> None:
    request = park(acme)
    delivery.sweep()
    assert shown.stdout is not None
    assert shown.stdout.readline() == f"approval.requested {request.pk}\n"
    with scope(acme.pk):
        row = channels.every(webhooks_only=True)[0]
        assert row.failures == 0
        url = reveal(row.url)
    forged = urllib.request.Request(url, data=b"{}", headers={"webhook-id": "x", "webhook-timestamp": "1"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(forged)
    refused.value.close()
    assert refused.value.code == 401
