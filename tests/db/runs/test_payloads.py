"""Large values: in a folder or a bucket, read as they are asked for, and let go when nothing uses them."""

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from runs import collecting, payloads
from runs.entries import Closing, Stored
from runs.models import Payload
from runs.storage import storage
from tenants import ids
from tenants.scope import scope
from tests.cast.journal import Started
from tests.harness.bucket import Service

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

LARGE = "🙂" * 700_000


@pytest.fixture(params=["file", "s3"])
def stored(request: Any, settings: Any, tmp_path: Path) -> str:
    """Either storage."""
    settings.STORAGE_URL = f"file://{tmp_path}" if request.param == "file" else request.getfixturevalue("bucket").url
    return str(request.param)


def keep(run: Started, content: bytes = b"x" * 100) -> UUID:
    return payloads.keep(content, tenant=run.tenant, run=run.id, media_type="application/json")


def age(days: int) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("UPDATE runs_payload SET created_at = created_at - make_interval(days => %s)", [days])


def there(run: Started, payload: UUID) -> bool:
    with scope(run.tenant):
        return Payload.objects.filter(pk=payload).exists()


def names(run: Started) -> set[str]:
    return {name.rpartition("/")[2] for name in storage().names(str(run.tenant))}


def test_what_is_kept_is_read_whole_and_in_parts(run: Started, stored: str) -> None:
    payload = keep(run, LARGE.encode())
    assert payloads.read(payload, tenant=run.tenant).decode() == LARGE
    with scope(run.tenant):
        row = Payload.objects.get(pk=payload)
    with payloads.content_of(row) as content:
        parts = [content.read(7), content.read()]
    assert b"".join(parts).decode() == LARGE
    assert len(parts[0]) == 7


def test_what_storage_has_lost_is_missing(run: Started, stored: str) -> None:
    payload = keep(run)
    with scope(run.tenant):
        row = Payload.objects.get(pk=payload)
    payloads.forget(row.location)
    payloads.forget(row.location)
    with pytest.raises(payloads.Missing):
        payloads.read(payload, tenant=run.tenant)


def test_a_bucket_is_opened_with_the_keys_of_the_environment_below_its_prefix(
    run: Started, bucket: Service, settings: Any
) -> None:
    settings.STORAGE_URL = bucket.url
    payload = keep(run)
    assert list(bucket.contents) == [f"/values/below/{run.tenant}/{run.id}/{payload}"]
    assert bucket.keys == {"the-key"}


def test_a_bucket_that_fails_for_a_moment_is_asked_again(run: Started, bucket: Service, settings: Any) -> None:
    settings.STORAGE_URL = bucket.url
    bucket.failing = 1
    payload = keep(run)
    bucket.failing = 1
    assert payloads.read(payload, tenant=run.tenant) == b"x" * 100


@pytest.mark.parametrize(
    ("url", "said"),
    [("ftp://somewhere/x", "ftp:// *, which is not supported"), ("s3://b?colour=red", "not known: colour")],
)
def test_a_storage_that_is_not_known_is_said_to_be(settings: Any, url: str, said: str) -> None:
    settings.STORAGE_URL = url
    with pytest.raises(ValueError, match=said.replace(" *", "")):
        storage()


def test_a_value_that_nothing_names_leaves_after_a_day(run: Started, stored: str) -> None:
    payload = keep(run)
    assert collecting.rows(run.tenant) == 0
    age(days=2)
    assert collecting.rows(run.tenant) == 1
    assert not there(run, payload)
    assert names(run) == set()


def test_a_value_that_a_step_or_another_value_names_stays(run: Started, stored: str) -> None:
    inner, told = keep(run), keep(run)
    outer = keep(run, f'{{"file": "{inner}"}}'.encode())
    door = run.hold()
    turn = door.open_turn()
    result = Stored(beginning=f"see {told}", payload=outer)
    door.close(Closing(turn.seq, "completed", result=result))
    door.give_back("the worker leaves")
    age(days=2)
    assert collecting.collect_all() == 0
    assert names(run) == {str(inner), str(told), str(outer)}


def test_a_value_of_a_run_that_a_worker_holds_stays(run: Started, stored: str) -> None:
    run.hold()
    payload = keep(run)
    age(days=2)
    assert collecting.rows(run.tenant) == 0
    assert there(run, payload)


@pytest.mark.parametrize("written", [0, 2**33])
def test_a_content_without_a_row_stays_while_its_run_is_held_whatever_any_clock_says(
    run: Started, settings: Any, tmp_path: Path, written: int
) -> None:
    settings.STORAGE_URL = f"file://{tmp_path}"
    door = run.hold()
    storage().put(f"{run.tenant}/{run.id}/{ids.new()}", [b"about to get its row"])
    for path in tmp_path.rglob("*"):
        os.utime(path, (written, written))
    assert collecting.files(run.tenant) == 0
    assert len(names(run)) == 1
    door.give_back("the worker leaves")
    assert collecting.files(run.tenant) == 1
    assert names(run) == set()


def test_a_content_without_a_row_leaves_and_one_with_a_row_stays(run: Started, stored: str) -> None:
    payload = keep(run)
    storage().put(f"{run.tenant}/{run.id}/{ids.new()}", [b"lost"])
    assert collecting.files(run.tenant) == 1
    assert names(run) == {str(payload)}


def test_half_a_file_and_what_is_not_ours(run: Started, settings: Any, tmp_path: Path) -> None:
    settings.STORAGE_URL = f"file://{tmp_path}"
    folder = tmp_path / str(run.tenant) / str(run.id)
    folder.mkdir(parents=True)
    for path in (folder / f"{ids.new()}.part", folder.parent / "README"):
        path.write_bytes(b"half")
    assert collecting.files(run.tenant) == 1
    assert names(run) == {"README"}


def test_what_comes_in_parts_is_written_as_it_comes(run: Started, stored: str, tmp_path: Path) -> None:
    part, seen = 1 << 20, []

    def parts() -> Iterator[bytes]:
        for number in range(12):
            seen.extend(half.stat().st_size for half in tmp_path.rglob("*.part"))
            yield bytes([number]) * part

    payload = payloads.keep(parts(), tenant=run.tenant, run=run.id, media_type="image/png")
    whole = b"".join(bytes([number]) * part for number in range(12))
    if stored == "file":
        assert seen == [number * part for number in range(12)], "nothing is held back"
    assert payloads.read(payload, tenant=run.tenant) == whole
    again = payloads.keep(io.BytesIO(whole), tenant=run.tenant, run=run.id, media_type="image/png")
    with scope(run.tenant):
        rows = [Payload.objects.get(pk=key) for key in (payload, again)]
    assert {(row.size, row.digest) for row in rows} == {(len(whole), hashlib.sha256(whole).hexdigest())}


def test_what_breaks_off_half_way_leaves_nothing(run: Started, stored: str) -> None:
    def parts() -> Iterator[bytes]:
        yield b"x" * (6 << 20)
        raise ValueError("the source is gone")

    with pytest.raises(ValueError, match="the source is gone"):
        payloads.keep(parts(), tenant=run.tenant, run=run.id, media_type="image/png")
    assert names(run) == set()


def test_a_long_text_is_written_in_parts_that_make_up_all_of_it(run: Started, stored: str) -> None:
    found = payloads.fit(LARGE * 3, tenant=run.tenant, run=run.id)
    assert isinstance(found, Stored)
    assert found.beginning == LARGE[: payloads.BEGINNING]
    assert payloads.read(found.payload, tenant=run.tenant).decode() == LARGE * 3
