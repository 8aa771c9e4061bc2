"""`doctor`: is everything here that Vermilion needs?"""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config.doctor import examine, statements


class Command(BaseCommand):
    help = "Says what is there and what is wrong; ends with 1 where something is. --sql prints the two roles."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--sql", action="store_true", help="print the statements that make the two roles")

    def handle(self, *_: Any, sql: bool, **__: Any) -> None:
        if sql:
            self.stdout.write(statements())
            return
        findings = list(examine())
        for finding in findings:
            mark = "wrong" if finding.wrong else "ok"
            self.stdout.write(f"{mark:<6}{finding.question}: {finding.answer}")
        if any(finding.wrong for finding in findings):
            sys.exit(1)
