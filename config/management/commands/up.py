"""`up`: all processes under one supervisor."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.local.trouble import Trouble
from config.supervisor.processes import extra
from config.supervisor.supervisor import Choices, Supervisor


class Command(BaseCommand):
    help = (
        "Migrates, then runs the web process, a worker and the scheduler, and PostgreSQL and Valkey "
        "where DATABASE_URL and BROKER_URL name no others. Ctrl-C ends all of it."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--with", dest="extras", action="append", default=[], metavar="MODULE")
        parser.add_argument("--log-files", action="store_true", help="write to LOCAL_DIR/log instead of here")
        parser.add_argument("--reset", action="store_true", help="start anew: what LOCAL_DIR holds is removed")
        parser.add_argument(
            "--end-with-parent", action="store_true", help="end when the process that started this does"
        )

    def handle(self, *_: Any, extras: list[str], **options: Any) -> None:
        choices = Choices(*(options[name] for name in ("log_files", "reset", "end_with_parent")))
        try:
            Supervisor(extras=[extra(module) for module in extras], choices=choices).run()
        except Trouble as trouble:
            raise CommandError(str(trouble)) from trouble
