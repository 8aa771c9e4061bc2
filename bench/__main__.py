"""`python -m bench [W1 …]`: measure all, or those named."""

import importlib
import sys

from bench.place import services

NAMES = ("W1", "W2", "W3", "W4", "W5", "W6", "W7")


def main(wanted: list[str]) -> int:
    """Print one JSON line a measurement; 2 where a name is unknown."""
    names = [name.upper() for name in wanted] or list(NAMES)
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.stderr.write(f"There is no measurement {', '.join(unknown)}; there are {', '.join(NAMES)}.\n")
        return 2
    for name in names:
        with services() as base:  # A server of its own for each, as empty as the one before it was.
            for found in importlib.import_module(f"bench.{name.lower()}").measure(base):
                sys.stdout.write(found.line() + "\n")
                sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
