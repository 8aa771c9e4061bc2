"""A mail whose subject is written so that every mail program reads the same."""

from email.header import Header
from typing import Any

from django.core.mail import EmailMultiAlternatives


class Mail(EmailMultiAlternatives):
    """Django's mail, but for a subject that is not plain ASCII: its first word fits on the header's first line.

    Django encodes it for lines of their own; the first line is then empty, and many programs show a space for it.
    """

    def message(self, *args: Any, **kwargs: Any) -> Any:
        """The message as it is sent."""
        made = super().message(*args, **kwargs)
        if not self.subject.isascii():
            made.replace_header("Subject", Header(str(self.subject), "utf-8", header_name="Subject"))
        return made
