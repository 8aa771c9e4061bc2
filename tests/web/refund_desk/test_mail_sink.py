"""The demo's mail sink keeps every message and shows it as text."""

import smtplib
from email.message import EmailMessage
from typing import Any

from examples.refund_desk import place
from tests.web.refund_desk.conftest import Service, Start

HOSTILE = "<script>document.title='owned'</script>"


def message(**headers: str) -> EmailMessage:
    made = EmailMessage()
    for name, text in {"From": "a@shop.example", "To": "maja@lindqvist.example", "Subject": "Hello", **headers}.items():
        made[name.replace("_", "-")] = text
    made.set_content("Your refund is on its way.")
    return made


def send(made: EmailMessage) -> None:
    with smtplib.SMTP("127.0.0.1", int(str(place.read("mail")["smtp_port"])), timeout=10) as server:
        server.send_message(made)


def listed(mail: Service, **query: str) -> list[dict[str, Any]]:
    with mail.client() as client:
        items: list[dict[str, Any]] = client.get("/messages", params=query).json()["items"]
        return items


def page(mail: Service, path: str) -> str:
    with mail.client() as client:
        return client.get(path).text


def test_a_message_is_kept_and_can_be_read(mail: Service) -> None:
    send(message(Subject="订单 A-1042"))
    assert [entry["subject"] for entry in listed(mail)] == ["订单 A-1042"]
    assert "Your refund is on its way." in page(mail, "/messages/1")
    assert "订单 A-1042" in page(mail, "/")


def test_a_message_is_found_by_its_message_id(mail: Service) -> None:
    send(message(Message_ID="<one@shop.example>"))
    assert len(listed(mail, message_id="<one@shop.example>")) == 1
    assert listed(mail, message_id="<two@shop.example>") == []


def test_messages_survive_kill_9(mail: Service, start: Start) -> None:
    send(message())
    mail.kill()
    again = start("mail", "examples.refund_desk.mailsink")
    assert len(listed(again)) == 1
    send(message())
    assert len(listed(again)) == 2


def test_hostile_html_is_shown_as_its_source(mail: Service) -> None:
    made = message(Subject=HOSTILE, To='"<img src=x onerror=alert(1)>" <a@b.example>')
    made.clear_content()
    made.set_content(f"<h1>Hi</h1>{HOSTILE}</pre><a href='javascript:alert(1)'>x</a>", subtype="html")
    send(made)
    for path in ("/", "/messages/1"):
        text = page(mail, path)
        assert "<script" not in text
        assert "<img" not in text
        assert "&lt;script&gt;" in text
    assert "href='javascript" not in page(mail, "/messages/1")


def test_pages_allow_neither_script_nor_inline_style(mail: Service) -> None:
    with mail.client() as client:
        policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "script-src" not in policy


def test_only_links_to_this_machine_can_be_followed(mail: Service) -> None:
    made = message()
    made.set_content("http://localhost:8000/t/acme/inbox/ http://evil.example/ http://localhost:1@evil.example/")
    send(made)
    text = page(mail, "/messages/1")
    assert text.count("<a href=") == 2
    assert '<a href="http://localhost:8000/t/acme/inbox/">' in text
    assert '<a href="/">All mail</a>' in text


def test_a_signed_link_is_whole_and_line_ends_are_no_marks(mail: Service) -> None:
    made = message()
    made.set_content("Open it:\nhttp://localhost:8000/t/acme/open/WyIw:1xXozR:XBZK-f_0/\n")
    send(made)
    text = page(mail, "/messages/1")
    assert '<a href="http://localhost:8000/t/acme/open/WyIw:1xXozR:XBZK-f_0/">' in text
    assert "U+000D" not in text


def test_a_direction_override_in_a_subject_is_marked(mail: Service) -> None:
    send(message(Subject="Refund \u202e00.1"))
    assert "U+202E" in page(mail, "/")
    assert "\u202e" not in page(mail, "/")


def test_broken_headers_and_an_unknown_charset_do_not_stop_the_page(mail: Service) -> None:
    with smtplib.SMTP("127.0.0.1", int(str(place.read("mail")["smtp_port"])), timeout=10) as server:
        server.sendmail(
            "a@b.example",
            ["c@d.example"],
            b"Subject: =?nonsense?Q?=FF?=\r\nFrom: <<>>,,\r\n"
            b"Content-Type: text/plain; charset=nonsense\r\n\r\nbody\xff",
        )
    assert "body" in page(mail, "/messages/1")
    assert page(mail, "/")


def test_mail_can_be_narrowed_to_one_address(mail: Service) -> None:
    send(message())
    send(message(To="tom@mail.example"))
    assert [entry["recipients"] for entry in listed(mail, to="TOM@mail")] == ["tom@mail.example"]
