"""The parts of the request page's view-model; times are aware, sentences are in the reader's language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.display import Shown, beginning, shown
from approvals.outcomes import Kept
from approvals.pages.asking_parts import VoteLine
from tenants import wording

SHORT_WORD = 16
LONG_COMMENT = 600
"""Characters that a comment shows unfolded: about a screen of a phone."""


@dataclass(frozen=True)
class Badge:
    """A word with a state: waiting, done, stop, info or none."""

    text: str
    state: str = ""


@dataclass(frozen=True)
class Flag:
    """An unusual fact: a field's name, what about it in bold, and the rest of the sentence."""

    lead: str
    text: str = ""
    code: str = ""


@dataclass(frozen=True)
class Fact:
    """A named value that is no parameter.

    Where only its beginning stands there, `length` is that of all of it, and `whole` is all of it unless that is too
    much for the page.
    """

    name: str
    value: Shown
    about: str = ""
    checked: str = ""
    was: Shown | None = None
    whole: Shown | None = None
    length: int = 0

    @property
    def full(self) -> Shown:
        """All of the value that is at hand."""
        return self.whole or self.value


@dataclass(frozen=True)
class Param:
    """One parameter as it will be sent; `value` is its beginning where `whole` is given, `was` where `was_whole` is."""

    name: Shown
    value: Shown
    code: bool = True
    whole: Shown | None = None
    length: int = 0
    download_url: str = ""
    masked: bool = False
    was: Shown | None = None
    was_whole: Shown | None = None
    was_length: int = 0
    checked: str = ""
    about: str = ""
    read: Shown | None = None
    """What a check of the value found, of which `checked` and `about` are the words."""
    hidden_names: Sequence[str] = ()


@dataclass(frozen=True)
class Link:
    """A labelled address."""

    label: str
    url: str


@dataclass(frozen=True)
class Seen:
    """A result the agent had before it asked."""

    tool: Shown
    text: Shown
    at: datetime | None = None
    step: int | None = None
    whole: Shown | None = None
    length: int = 0
    step_url: str = ""
    links: Sequence[Link] = ()

    @property
    def full(self) -> Shown:
        """All of the text that the request has."""
        return self.whole or self.text


@dataclass(frozen=True)
class Column:
    """A column of the precedents."""

    name: str
    numeric: bool = False


@dataclass(frozen=True)
class Cell(Shown):
    """A value in a column; `column` is its name, which stands beside the value where the columns are folded.

    Where only its beginning stands there, `length` is that of all of it, and `whole` is all of it unless that is too
    much for the page.
    """

    numeric: bool = False
    column: str = ""
    whole: Shown | None = None
    length: int = 0

    @property
    def short(self) -> bool:
        """Whether it is one word, such as a number of an order, that would be torn at its hyphen."""
        text = str(self)
        return len(text) <= SHORT_WORD and not any(map(str.isspace, text))


@dataclass(frozen=True)
class Precedent:
    """An earlier call on the same tool, how it was answered and what came of it."""

    at: datetime
    url: str
    cells: Sequence[Cell]
    answer: str
    outcome: str


@dataclass(frozen=True)
class Precedents:
    """The nearest earlier calls."""

    total: int
    hint: str
    columns: Sequence[Column] = ()
    rows: Sequence[Precedent] = ()
    all_url: str = ""


@dataclass(frozen=True)
class RuleLine:
    """One rule that took part; `of` names groups, none means any reviewer."""

    name: str
    url: str = ""
    condition: str = ""
    needed: int = 1
    of: Sequence[str] = ()
    error: str = ""


@dataclass(frozen=True)
class StandingLine:
    """How it ended: by whom beside the reader, when, with which words.

    `each` are the approvals with their own times, where it took more than one.
    """

    by: Sequence[str]
    you: bool
    at: datetime
    comment: Shown | None = None
    response: Shown | None = None
    edited: bool = False
    each: Sequence[VoteLine] = ()


@dataclass(frozen=True)
class Lost:
    """The reader's own answer, which came too late."""

    decision: str
    at: datetime
    seconds: int = 0


@dataclass(frozen=True)
class Changed:
    """A newer version came while the reader read an older one."""

    by: str
    at: datetime
    version: int
    was_version: int
    differences: Sequence[Fact] = ()
    comment: Shown | None = None


@dataclass(frozen=True)
class CameBack:
    """The request replaces an earlier one."""

    why: str
    old_url: str
    round: int
    rounds: int
    same_parameters: bool
    approved_at: datetime | None = None
    differences: Sequence[Fact] = ()


@dataclass(frozen=True)
class OutcomeLine:
    """What became of an approved call; `settled_by` is the person who stated it, where no tool did."""

    state: str
    text: str = ""
    detail: Shown | None = None
    at: datetime | None = None
    settled_by: str = ""
    kept: Kept | None = None


@dataclass(frozen=True)
class Confirm:
    """The second step: a one-time code beside the same figures, and the fields carried along."""

    decision: str
    title: Shown
    params: Sequence[Param]
    hidden: Sequence[tuple[str, str]]
    error: str = ""


@dataclass(frozen=True)
class CommentLine:
    """What somebody said beside a question or a run; `text` is its beginning where `whole` is given."""

    name: str
    at: datetime
    text: Shown
    whole: Shown | None = None
    length: int = 0

    @classmethod
    def of(cls, actor: Mapping[str, Any], at: datetime, text: str) -> "CommentLine":
        """What this actor said; a long text is folded."""
        name = wording.actor(actor)
        if len(text) <= LONG_COMMENT:
            return cls(name, at, shown(text))
        return cls(name, at, beginning(text), shown(text), len(text))


@dataclass(frozen=True)
class Position:
    """Where the request stands in the reader's list; `more` says that the list is longer than `total`.

    `index` is 0 for a request that does not wait for the reader; `next_url` is then the first that does.
    """

    index: int
    total: int
    more: bool = False
    next_url: str = ""
    previous_url: str = ""
