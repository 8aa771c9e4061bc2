"""A browser for the journeys: found, or fetched. `python -m tests.harness.chromium` says which."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APT = (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "chromium"])


def find() -> str | None:
    """The path of CHROMIUM, of a browser on PATH or of Playwright's own; None where there is none."""
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return named or _playwrights()


def _playwrights() -> str | None:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def fetch() -> str | None:
    """Fetch one: Playwright's, else, as root of a Debian, the distribution's."""
    print("No Chromium is found; fetching one.", flush=True)
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if not (found := _playwrights()) and os.geteuid() == 0 and shutil.which("apt-get"):
        for command in APT:
            subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        found = find()
    return found


def main() -> None:
    found = find() or fetch()
    if not found:
        sys.exit("There is no Chromium and none could be fetched. Install one, or set CHROMIUM to its path.")
    print(f"Browser: {found}", flush=True)


if __name__ == "__main__":
    main()
