"""`start_run TENANT AGENT --input JSON [--as EMAIL]`: queues a run and prints its id alone."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs import commands
from runs.commands import Start
from tenants import exact_json, members
from tenants.actors import COMMAND, Actor
from tenants.lookup import tenant_named
from tenants.refusals import Refusal
from tenants.scope import scope


class Command(BaseCommand):
    """Starts a run. Without `--as` it has no initiator, and its page says so."""

    help = "Start a run and print its id alone."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("tenant", help="the tenant's slug")
        parser.add_argument("agent", help="an agent that is switched on there")
        parser.add_argument("--input", required=True, help="any JSON value")
        parser.add_argument("--as", default="", dest="email", metavar="EMAIL", help="the member who starts it")
        parser.add_argument("--title", default="", help="what the run is called on pages")

    def handle(self, *, tenant: str, agent: str, input: str, email: str, title: str, **_: Any) -> None:  # noqa: A002
        try:
            exact_json.loads(input)
            with scope(tenant_named(tenant).pk):
                wanted = Start(agent=agent, input=input, title=title)
                run = commands.start(wanted, actor=_actor(email), channel="command")
        except exact_json.BadJson as error:
            raise CommandError(f"--input is no JSON that can be kept. {error.message}") from None
        except Refusal as refusal:
            raise CommandError(str(refusal.detail)) from None
        self.stdout.write(str(run.id))


def _actor(email: str) -> Actor:
    return members.actor_of(members.by_email(email)) if email else COMMAND
