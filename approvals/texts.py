"""What the model reads in a call's place, and what the story of a run says; English, and the same on every process."""

from collections.abc import Sequence


def rejected(reason: str) -> str:
    """A person said no; the reason is passed on unchanged."""
    if not reason:
        return "Rejected by a person, who gave no reason. The call was not run."
    return f"Rejected by a person. The call was not run. Their reason:\n{reason}"


def responded(response: str) -> str:
    """A person answered in the tool's place."""
    return f"A person answered in the tool's place; the call was not run. Their answer:\n{response}"


def expired() -> str:
    """Nobody answered: no refusal by anyone."""
    return "Nobody answered in time. The call expired and was not run. No person refused it."


def cancelled(because: str) -> str:
    """The question was closed without an answer."""
    return f"The request was closed without an answer ({because}). The call was not run."


def edited(fields: Sequence[str]) -> str:
    """Told beside the result of a call that a person changed."""
    return f"A person changed these fields before approving: {', '.join(fields)}."


def of_decision(status: str, *, comment: str = "", response: str = "") -> str:
    """The text for an ended request; empty for one that goes on to the tool."""
    if status == "rejected":
        return rejected(comment)
    if status == "responded":
        return responded(response)
    return expired() if status == "expired" else ""
