"""What a question says: the things that it mentions, each with the characters that say it and how it is meant."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from quarry.language.tokens import Token
from quarry.platform.contract import Assertion

Source = Literal["language", "data", "rule", "model"]
"""What a mention was recognised by: a lexicon of the language, a value that the database holds, a rule, or a model."""

Grain = Literal["day", "week", "month", "quarter", "year"]
PlaceKind = Literal["city", "region", "country", "continent"]


@dataclass(frozen=True)
class KnownValue:
    """A value of a facet as it stands in the data, and in how many rows. `likeness` is 1 where it was written right (but for
    case, accents, inflection), less for a slip of the pen. `is_whole`: all of the value was said, not a part of it. `tables` are
    the names of those that hold it.
    """

    facet: str
    value: str
    rows: int = 0
    likeness: float = 1.0
    is_whole: bool = True
    tables: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True)
class ValueMatch:
    """The words `first` to `last` (not included) of the question may mean `value`."""

    first: int
    last: int
    value: KnownValue


@dataclass(frozen=True)
class Vocabulary:
    """What the words of one question mean in the data, as it was looked up for them: matches in no order, which may overlap."""

    matches: Sequence[ValueMatch] = ()


@dataclass(frozen=True)
class Known:
    """What words mean in the data: one value, or several that are called the same, the likeliest first."""

    values: tuple[KnownValue, ...]


@dataclass(frozen=True)
class FacetName:
    """The name of a facet itself ("which channel", "by city"): those that are called so, by their names. With `grain`: the
    periods of the facet that dates the rows ("which year", "per month").
    """

    facets: tuple[str, ...]
    grain: Grain | None = None


@dataclass(frozen=True)
class DateRange:
    """Days from `first` to `last`, both inclusive; None is open. `months` (1 to 12): only these months of each year."""

    first: datetime.date | None = None
    last: datetime.date | None = None
    months: tuple[int, ...] = ()
    grain: Grain = "day"


@dataclass(frozen=True)
class NumberRange:
    """Numbers from `least` to `most`; None is open. `unit` is the noun that is counted, as its stem, where one is named."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    unit: str | None = None


@dataclass(frozen=True)
class MoneyRange:
    """Amounts from `least` to `most`; None is open. `currency` is the ISO 4217 code, None where none is said."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = True
    includes_most: bool = True
    currency: str | None = None
    per: Literal["year", "month", "week", "day", "hour"] | None = None


@dataclass(frozen=True)
class Duration:
    """A length of time in months: "5+ years". It dates nothing but what is so old. `unit` is the stem of what it is told in."""

    least: float | None = None
    most: float | None = None
    includes_least: bool = field(default=True, compare=False)
    includes_most: bool = field(default=True, compare=False)
    unit: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Place:
    """A place by its usual name, lower case. `names` are all its spellings; of a region, those of what lies in it too.

    `within` is the usual name of the country or state that the words put it in ("London, Canada").
    """

    kind: PlaceKind
    name: str
    names: tuple[str, ...]
    within: str | None = None
    known: tuple[KnownValue, ...] = ()
    """The values of place facets that these are in the data; none where it holds no such place."""
    known_within: tuple[KnownValue, ...] = ()
    """Those that the country or state is which the words put it in."""


AskedFor = Literal[
    "count", "distinct", "list", "group", "most", "least", "first", "last", "largest", "smallest", "when", "measure", "exists",
    "compare", "statistic", "share", "average", "total",
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A word or phrase that says what kind of answer is wanted ("how many different", "most common", "per month", "when")."""

    what: AskedFor
    number: int | None = None
    grain: Grain | None = None


@dataclass(frozen=True)
class Reference:
    """What takes up an earlier answer: all of it ("those", "of them"), or by place, from 1; -1 is the last; or what it left out
    ("the others").
    """

    places: tuple[int, ...] = ()
    is_to_others: bool = False


@dataclass(frozen=True)
class Word:
    """A word that says what is wanted, by its stem; `is_name`: it stands where a name would, or is written like one."""

    stem: str
    is_name: bool = False


@dataclass(frozen=True)
class Phrase:
    """Words in quotation marks, to be found as they are."""

    text: str


CueKind = Literal[
    "negates", "negates_verb", "negates_list", "negates_one", "negates_values", "negates_before", "negates_one_before",
    "requires", "requires_before", "prefers", "prefers_before", "alike", "uncertain", "irrelevant_before", "former",
    "harmless", "negative", "ends", "and", "or", "relates", "light", "title", "noun", "filler",
]  # fmt: skip
"""What a cue does; `data/cues.toml` says it of each."""


@dataclass(frozen=True)
class Cue:
    """Words that say how others are meant ("not", "only", "preferably"), or that say nothing about what is wanted."""

    what: CueKind


Value = (
    Known
    | FacetName
    | DateRange
    | NumberRange
    | MoneyRange
    | Duration
    | Place
    | Asked
    | Reference
    | Word
    | Phrase
    | Cue
)


@dataclass(frozen=True)
class Span:
    """The characters of a question that say something."""

    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """A thing that `text[start:end]` mentions. `is_latent`: the words may mean this, and nothing beside them says so."""

    value: Value
    start: int
    end: int
    assertion: Assertion = "affirmed"
    is_latent: bool = False
    source: Source = "language"
    joined_by: Literal["and", "or"] | None = None
    """How it holds together with the mention before it: "and", both as each is meant; "or", one of them suffices. So "not in A or
    B" is two negated mentions joined by "and", and "no red wine" two joined by "or".
    """

    @property
    def span(self) -> Span:
        """Its characters."""
        return Span(self.start, self.end)

    def overlaps(self, other: Mention) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class ParsedQuery:
    """A question with its words and its mentions in the order of the text; no character is in two mentions."""

    text: str
    tokens: Sequence[Token]
    mentions: Sequence[Mention]
    reference_date: datetime.date
    """What is relative counts from it: "last year", "ten years old"."""
    follows_up: bool = False
    """Whether it takes up the question before it ("and in Berlin?", "only those …")."""
    refers: bool = False
    """Whether it speaks of what was answered before ("which of them", "what is its price")."""
    others: bool = False
    """Whether it is about what an earlier answer left out ("and the others?")."""
    narrows: bool = False
    """Whether it asks for a part of what was answered before ("only those …", "which of them …")."""
    small_talk: frozenset[str] = frozenset()
    """Words that carry no topic, in lower case, of a question in another language than English."""

    def said(self, mention: Mention) -> str:
        """The words of a mention as they are written."""
        return self.text[mention.start : mention.end]

    def pieces(self, mentions: Iterable[Mention]) -> list[str]:
        """What several mentions say, one by one; the number of a code stays with it ("AB-17"), as words are indexed."""
        pieces: list[str] = []
        end = 0
        for mention in mentions:
            said = self.said(mention)
            if pieces and said[:1].isdigit() and self.text[end : mention.start] == "-":
                pieces[-1] += f"-{said}"
            else:
                pieces.append(said)
            end = mention.end
        return pieces

    @property
    def asks_who(self) -> bool:
        """Whether it asks for somebody."""
        return bool(self.tokens) and self.tokens[0].key == "who"

    @property
    def asks_nothing(self) -> bool:
        """Whether none of its words says anything of what is searched ("hello there")."""
        return all(mention.value == Cue("filler") for mention in self.mentions)
