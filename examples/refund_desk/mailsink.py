"""The mail sink: takes every message over SMTP, delivers none, keeps them and shows them as text.

A message is on the disk before it is accepted. Run it alone with `python -m examples.refund_desk.mailsink`.
"""

import asyncio
import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as policy
from html import escape
from http import HTTPStatus
from threading import Thread
from typing import Any

from aiosmtpd.smtp import SMTP

from examples.refund_desk import pages, place, web
from examples.refund_desk.book import Book, now

TABLES = """
CREATE TABLE IF NOT EXISTS message (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipients TEXT NOT NULL,
    subject TEXT NOT NULL,
    content BLOB NOT NULL,
    accepted_at TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS message_id ON message (message_id);
"""

# Links to other machines stay text: the sink holds what strangers wrote.
OWN_LINK = re.compile(r"https?://(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?/[A-Za-z0-9/_.~%?=&:+-]*")
LISTED = 500


class Sink:
    """The store, and its two doors: `handle_DATA` for SMTP and `respond` for the browser."""

    def __init__(self) -> None:
        self.book = Book(place.folder() / "mail.sqlite", tables=TABLES, closed_to_change=("message",))

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: ARG002, N802
        self.keep(envelope.original_content, sender=envelope.mail_from, recipients=envelope.rcpt_tos)
        return "250 Message accepted and kept"

    def keep(self, content: bytes, *, sender: str, recipients: list[str]) -> None:
        """Writes one message down, whole."""
        message = _parse(content)
        values = (_header(message, "Message-ID"), sender, ", ".join(recipients), _header(message, "Subject"))
        with self.book.writing() as connection:
            connection.execute(
                "INSERT INTO message (message_id, sender, recipients, subject, content, accepted_at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*(_storable(value) for value in values), content, now()),
            )

    def respond(self, request: web.Request) -> web.Answer:
        number = request.path.removeprefix("/messages/")
        if request.method == "GET" and request.path == "/":
            return self.list_page(request.query.get("to", ""))
        if request.method == "GET" and request.path == "/style.css":
            return pages.style()
        if request.method == "GET" and request.path == "/messages":
            return web.as_json({"items": self.listed(**request.query)})
        if request.method == "GET" and number.isdecimal() and len(number) < 18:
            return self.message_page(int(number))
        return web.problem(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    def listed(self, *, message_id: str = "", to: str = "", **_: str) -> list[dict[str, Any]]:
        """What is known of the newest messages: of one Message-ID, to one address, or all."""
        return self.book.rows(
            "SELECT number, message_id, sender, recipients, subject, accepted_at FROM message "
            "WHERE (?1 = '' OR message_id = ?1) AND (?2 = '' OR instr(lower(recipients), lower(?2))) "
            "ORDER BY number DESC LIMIT ?3",
            message_id,
            to,
            LISTED,
        )

    def list_page(self, to: str) -> web.Answer:
        rows = [
            (
                pages.moment(row["accepted_at"]),
                pages.visible(row["recipients"]),
                f'<a href="/messages/{row["number"]}">{pages.visible(row["subject"]) or "no subject"}</a>',
                pages.visible(row["sender"]),
            )
            for row in self.listed(to=to)
        ]
        intro = f"<p>Nothing here was delivered to anybody. Newest first, at most {LISTED}.</p>"
        return pages.page(
            f"Mail to {to}" if to else "Mail",
            body=intro + pages.table(("Accepted", "To", "Subject", "From"), rows=rows, long=("To", "Subject", "From")),
        )

    def message_page(self, number: int) -> web.Answer:
        found = self.book.rows("SELECT * FROM message WHERE number = ?", number)
        if not found:
            return web.problem(HTTPStatus.NOT_FOUND, "There is no message with this number.")
        message = _parse(found[0]["content"])
        headers = [
            (escape(name), pages.visible(_header(message, name)))
            for name in ("From", "To", "Subject", "Date", "Message-ID")
        ]
        return pages.page(
            found[0]["subject"] or "no subject",
            body='<nav><a href="/">All mail</a></nav>'
            + pages.table(("Header", "Value"), rows=headers, long=("Value",))
            + f"<h2>Text</h2><pre>{_with_own_links(_text(message))}</pre>{_others(message)}",
        )


def _parse(content: bytes) -> EmailMessage:
    message = message_from_bytes(content, policy=policy)
    assert isinstance(message, EmailMessage)
    return message


def _header(message: EmailMessage, name: str) -> str:
    """A header as text; one that cannot be parsed is shown as it came."""
    try:
        return str(message.get(name, ""))
    except Exception:  # The standard parser raises many kinds on hostile headers.
        return str(dict(message.raw_items()).get(name, ""))


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _text(message: EmailMessage) -> str:
    """The plain part; a message that has only HTML is shown as its source."""
    part = message.get_body(preferencelist=("plain", "html"))
    return "" if part is None else _decoded(part).replace("\r\n", "\n")


def _decoded(part: Any) -> str:
    content = part.get_payload(decode=True) or b""
    try:
        return str(content.decode(part.get_content_charset("utf-8"), "replace"))
    except LookupError:
        return str(content.decode("utf-8", "replace"))


def _others(message: EmailMessage) -> str:
    names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    return "<h2>Attached</h2><ul>" + "".join(f"<li>{pages.visible(n)}</li>" for n in names) + "</ul>" if names else ""


def _with_own_links(text: str) -> str:
    pieces: list[str] = []
    end = 0
    for link in OWN_LINK.finditer(text):
        pieces += [pages.visible(text[end : link.start()]), f'<a href="{escape(link[0])}">{escape(link[0])}</a>']
        end = link.end()
    return "".join([*pieces, pages.visible(text[end:])])


async def listen(sink: Sink) -> asyncio.Server:
    """SMTP on the former port or, where that is taken, on a free one."""
    loop = asyncio.get_running_loop()

    def session() -> SMTP:
        return SMTP(sink, hostname="mail-sink.invalid", enable_SMTPUTF8=True, loop=loop)

    try:
        return await loop.create_server(session, "127.0.0.1", place.former_port("mail", "smtp_port"))
    except OSError:
        return await loop.create_server(session, "127.0.0.1", 0)


async def serve() -> None:
    sink = Sink()
    server = web.bind("mail", sink.respond)
    Thread(target=server.serve_forever, daemon=True, name="mail pages").start()
    smtp = await listen(sink)
    place.announce("mail", **web.address_of(server), smtp_port=smtp.sockets[0].getsockname()[1])
    await smtp.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
