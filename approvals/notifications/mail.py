"""Handing a mail to the mail server."""

import smtplib

from django.core.mail import EmailMultiAlternatives, get_connection

from approvals.notifications.failures import Failure

PATIENCE = 10


def send(message: EmailMultiAlternatives) -> Failure | None:
    """Hand over one message; what went wrong, or None."""
    try:
        get_connection(timeout=PATIENCE).send_messages([message])
    except smtplib.SMTPRecipientsRefused as error:
        code, words = next(iter(error.recipients.values()))
        return Failure(f"{code} {_words(words)}"[:500], final=code >= 500)
    except smtplib.SMTPResponseException as error:
        return Failure(f"{error.smtp_code} {_words(error.smtp_error)}"[:500], final=error.smtp_code >= 500)
    except (OSError, smtplib.SMTPException) as error:
        return Failure(f"{type(error).__name__}: {error}"[:500], silent=True)
    return None


def _words(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else said
