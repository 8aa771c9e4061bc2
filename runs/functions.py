"""The journal's SQL functions, as they stand in `runs/sql`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "sql"


def text(name: str) -> str:
    """The SQL of one file of `runs/sql`."""
    return (FOLDER / f"{name}.sql").read_text()
