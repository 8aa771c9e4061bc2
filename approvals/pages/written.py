"""What a reader types on a request's page, as the page shows it again: an answer with its comment, and an edit."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from approvals import writing
from approvals.display import Shown
from approvals.pages.parts import RuleLine

LINE = 72
"""About how many characters a box shows in one line."""
MOST_ROWS = 20


@dataclass(frozen=True)
class EditField:
    """One parameter as it can be edited: kind is text, long, number, choice, bool or json."""

    name: str
    kind: str
    value: str
    original: str
    current: str
    choices: Sequence[str] = ()
    hint: str = ""
    error: str = ""
    editable: bool = True
    removed_hidden: int = 0

    @property
    def rows(self) -> int:
        """How many lines the text takes where a browser does not let its box grow: at least two, at most twenty."""
        lines = sum(max(1, -(-len(line) // LINE)) for line in self.value.split("\n"))
        return min(max(lines + 1, 2), MOST_ROWS)


@dataclass(frozen=True)
class Difference:
    """One field in three states: as the agent asked, as it stands, as the reader wrote."""

    name: str
    agent: Shown
    current: Shown
    yours: Shown
    error: str = ""


@dataclass(frozen=True)
class EditView:
    """The edit page beside the question.

    `read` is the version on the screen, which is compared with; `stale` that another stands by now. `compared` says
    that the reader asked what changes: `becomes` is the act with their values, `needed` how many people the rules then
    ask for, where that is more than now, and `rules` which rules ask then, and whom.
    """

    fields: Sequence[EditField]
    read: int
    stale: bool = False
    compared: bool = False
    becomes: Shown | None = None
    needed: int = 0
    rules: Sequence[RuleLine] = ()
    errors: Sequence[tuple[str, str]] = ()
    differences: Sequence[Difference] = ()
    unchanged: Sequence[str] = ()
    lapses: Sequence[str] = ()
    comment: str = ""
    comment_error: str = ""
    limit: int = writing.ANSWER

    @property
    def next_version(self) -> int:
        """The number that the edit gets."""
        return self.read + 1


@dataclass(frozen=True)
class AnswerForm:
    """What the reader had typed, and what is wrong with it (field → words; "" is the whole form)."""

    decision: str = ""
    note: str = ""
    reason: str = ""
    response: str = ""
    values: Sequence[tuple[str, str]] = ()  # The parameters that were edited, as typed.
    comment: str = ""
    comment_error: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    code_error: str = ""
    limit: int = writing.ANSWER
    comment_limit: int = writing.COMMENT

    @property
    def written(self) -> str:
        """What was typed for the answer, for a page that has no box for it any more."""
        texts = {"reject": self.reason, "respond": self.response}
        edited = "\n".join(f"{name}: {text}" for name, text in self.values)
        return "\n\n".join(filter(None, [edited, texts.get(self.decision, self.note)]))
