"""The page of settings and the settings agree."""

import ast
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/settings.md").read_text()
READ = re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", (ROOT / "config/settings.py").read_text())
NUMBERS = {  # As the contract says.
    "LEASE_SECONDS": 30,
    "LEASE_MARGIN": 10,
    "SWEEP_SECONDS": 1,
    "SLICE_SECONDS": 60,
    "VERSION_GRACE": 600,
    "MODEL_MAX_ATTEMPTS": 12,
    "TOOL_MAX_ATTEMPTS": 8,
    "MODEL_TIMEOUT": 120,
    "TOOL_TIMEOUT": 60,
    "RETRY_BASE": 1,
    "RETRY_CAP": 900,
    "RETRY_TOLD_CAP": 86400,
    "MAX_STEPS": 100,
    "MAX_REPEATS": 3,
    "CRASH_LOOP": 3,
    "PAYLOAD_INLINE": 32768,
}


def settings(show: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """What a process with exactly this environment sees."""
    command = [sys.executable, "-c", f"from config import settings as s; print({show})"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", sorted({*READ, "SECRET_KEY", "FIELD_KEYS", "AUDIT_KEY", "LOCAL_DIR"}))
def test_every_setting_has_its_line(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_the_numbers_are_the_promised_ones(tmp_path: Path) -> None:
    seen = settings(f"[getattr(s, name) for name in {list(NUMBERS)}]", LOCAL_DIR=str(tmp_path))
    assert [float(part) for part in seen.stdout.strip("[]\n").split(",")] == list(NUMBERS.values())


def test_large_values_lie_below_the_folder_whatever_its_name(tmp_path: Path) -> None:
    seen = settings("s.STORAGE_URL", LOCAL_DIR=str(tmp_path / "朱 #?%20"), PYTHONUTF8="1")
    parts = urlsplit(seen.stdout.strip())
    assert (parts.scheme, unquote(parts.path)) == ("file", str(tmp_path / "朱 #?%20" / "storage"))


def test_a_database_that_falls_silent_is_given_up_after_a_minute_unless_its_address_says_otherwise() -> None:
    named = {"DATABASE_URL": "postgresql://app@db/vermilion?sslmode=require&keepalives_idle=5", "SECRET_KEY": "x"}
    seen = settings("s.DATABASES['default']['OPTIONS']", **named, FIELD_KEYS="x", AUDIT_KEY="x", DATABASE_POOL_SIZE="0")
    assert ast.literal_eval(seen.stdout) == {
        "sslmode": "require",
        "keepalives_idle": "5",
        "keepalives_interval": "10",
        "keepalives_count": "3",
        "tcp_user_timeout": "60000",
        "options": "-c idle_in_transaction_session_timeout=60000",
    }


def test_times_take_fractions(tmp_path: Path) -> None:
    seen = settings(
        "s.LEASE_SECONDS, s.LEASE_MARGIN, s.SWEEP_SECONDS",
        LOCAL_DIR=str(tmp_path),
        LEASE_SECONDS="1.5",
        SWEEP_SECONDS="0.2",
    )
    assert seen.stdout == "1.5 0.5 0.2\n"


def test_a_database_of_ones_own_demands_secrets_of_ones_own(tmp_path: Path) -> None:
    seen = settings("s.SECRET_KEY", LOCAL_DIR=str(tmp_path), DATABASE_URL="postgresql://app@db/vermilion")
    assert seen.returncode == 1
    assert "SECRET_KEY is not set. With DATABASE_URL set, the secrets must be set too." in seen.stderr


def test_what_up_left_is_read_where_the_environment_is_silent(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"SECRET_KEY": "from the file", "AUDIT_KEY": "from the file too"}')
    seen = settings("s.SECRET_KEY, s.AUDIT_KEY", LOCAL_DIR=str(tmp_path), AUDIT_KEY="from the environment")
    assert seen.stdout == "from the file from the environment\n"


@pytest.mark.parametrize(
    ("url", "channel"),
    [
        ("redis://valkey:6379/3", "redis://valkey:6379/1"),
        ("rediss://:word@valkey:6380/0", "rediss://:word@valkey:6380/1"),
        ("redis+socket:///run/valkey.sock?virtual_host=4", "unix:///run/valkey.sock?db=1"),
    ],
)
def test_the_bell_uses_the_brokers_server_beside_it(url: str, channel: str, tmp_path: Path) -> None:
    assert settings("s.CHANNEL_URL", LOCAL_DIR=str(tmp_path), BROKER_URL=url).stdout == channel + "\n"


def test_rabbitmq_rings_no_bell(tmp_path: Path) -> None:
    seen = settings("s.CHANNEL_URL", LOCAL_DIR=str(tmp_path), BROKER_URL="amqp://rabbit")
    assert "CHANNEL_URL is not set" in seen.stderr
