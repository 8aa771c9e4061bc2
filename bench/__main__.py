"""`python -m bench [W1 …]`: measure all, or those named."""

import importlib
import subprocess
import sys

from bench.place import services

NAMES = ("W1", "W2", "W3", "W4", "W5", "W6", "W7")


def main(wanted: list[str]) -> int:
    """Print one JSON line a measurement; 2 where a name is unknown, 1 where a measurement failed."""
    names = [name.upper() for name in wanted] or list(NAMES)
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.stderr.write(f"There is no measurement {', '.join(unknown)}; there are {', '.join(NAMES)}.\n")
        return 2
    if len(names) == 1:
        return _measure(names[0])
    return max(_apart(name) for name in names)


def _apart(name: str) -> int:
    """Measure one in a process of its own: settings and connections are those of the first server it knew."""
    return subprocess.run([sys.executable, "-m", "bench", name], check=False).returncode


def _measure(name: str) -> int:
    with services() as base:  # A server of its own for each, as empty as the one before it was.
        for found in importlib.import_module(f"bench.{name.lower()}").measure(base):
            sys.stdout.write(found.line() + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
