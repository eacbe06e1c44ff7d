"""What a question seeks: hard conditions, preferences, the text for hybrid search, and the names of companies. Pure.

A log-linear model, fitted to questions with marked names (tools/fit/company_names), gives each run of words the chances of being
a name and of each relation. A wrong name does no harm, since it is then looked up in the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

from quarry.companies.facets import STATUS
from quarry.companies.tables import STATUSES
from quarry.language.recognition import Weights, chances_of, stored_weights
from quarry.language.word_forms import STOP_WORDS, Token, commonness, tokenise
from quarry.platform.contract import Evidence
from quarry.schema.algebra import Comparison, Condition, Query, comparisons_of

Relation = Literal["about", "like", "mentioned", "none"]
"""What is asked: about the company, for others like it, for others that mention it. none: the words are no name."""
RELATIONS: tuple[Relation, ...] = get_args(Relation)

NAMES_MAX = 16
NAME_CHARACTERS_MAX = 120
NAME_WORDS_MAX = 8
CHANCE_MIN = 0.02
"""Runs of words that are less likely names are not looked up."""
LIKELY = 0.5
CUE_MIN = 1.0
"""Words whose weight for `like` exceeds the others by this ask for similar companies, and are no topic."""
AROUND = ("o", "b2", "a2")
"""The prefixes of evidence that consists of words around a name."""
WINDOW = 12
"""How many words before and after a run are evidence."""
LENGTH_MAX = 4
"""The model does not tell longer names apart, nor more words around one."""
WEIGHTS_FILE = "names.json.zz"


@dataclass(frozen=True)
class Name:
    """Words of a question that may be a company's name, with the chance of each relation."""

    text: str
    start: int
    end: int
    chances: Mapping[Relation, float]
    is_whole: bool = False
    """Whether it is the whole question."""

    @property
    def chance(self) -> float:
        """The chance that it is a name."""
        return 1 - self.chances["none"]

    @property
    def relation(self) -> Relation:
        """The likeliest relation, if it is a name."""
        return max(RELATIONS[:-1], key=lambda each: self.chances[each])

    def holds(self, other: Name) -> bool:
        """Whether it contains the other."""
        return self.start <= other.start and other.end <= self.end and self != other


@cache
def learned() -> Weights:
    """The packaged weights."""
    return stored_weights("quarry.companies", WEIGHTS_FILE)


def read_names(question: str) -> list[Name]:
    """The names that a question may contain, at most `NAMES_MAX`: the whole question, since any words may be a name, and then the
    likeliest.
    """
    tokens = tokenise(question)
    found = list(_names(question, tokens, learned()))
    found.sort(key=lambda name: -name.chance)
    whole = [name for name in found if name.is_whole]
    likely = [name for name in found if name.chance >= CHANCE_MIN and not name.is_whole]
    return [*whole, *likely[: NAMES_MAX - len(whole)]]


def without_names(question: str, names: Sequence[Name]) -> str:
    """The question with spaces in place of the names and of the words that ask for similar companies."""
    tokens, weights = tokenise(question), learned()
    cues = {word for name in names for word in _cues(question, tokens, name, weights)}
    left_out = [(name.start, name.end) for name in names]
    for start, end in [*left_out, *((each.start, each.end) for each in tokens if each.key in cues)]:
        question = question[:start] + " " * (end - start) + question[end:]
    return question


def runs_of(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The runs of words that may be names: the first place, and the one after the last."""
    for first in range(len(tokens)):
        for last in range(first + 1, min(first + NAME_WORDS_MAX, len(tokens)) + 1):
            yield first, last


def evidence_of(text: str, tokens: Sequence[Token], first: int, last: int) -> list[str]:
    """The features of the words `first` to `last` (exclusive): how they are written, and the words around them."""
    inside = tokens[first:last]
    before, behind = tokens[max(0, first - WINDOW) : first], tokens[last : last + WINDOW]
    around = [each.key for each in (*before, *behind)]
    capitals = "".join("A" if each.is_capital else "a" for each in inside[:LENGTH_MAX])
    length = min(len(inside), LENGTH_MAX)
    rest = min(sum(key not in STOP_WORDS for key in around), LENGTH_MAX)
    near, far = (before[-1].key if before else "|"), (behind[0].key if behind else "|")
    shape = f"{capitals}{'^' if not first else ''}"
    common = "".join(commonness(each.key) for each in inside[:LENGTH_MAX])
    found = [
        "",
        f"shape:{shape}",
        f"common:{common}",
        f"first:{commonness(inside[0].key)} last:{commonness(inside[-1].key)}",
        f"length:{length}",
        f"rest:{rest}",
        f"rest:{rest} common:{common}",
        f"whole:{len(inside) == len(tokens)}",
        f"b:{near}",
        f"a:{far}",
        f"b2:{' '.join(each.key for each in before[-2:])}",
        f"a2:{' '.join(each.key for each in behind[:2])}",
        f"b:{near} shape:{shape}",
        f"a:{far} shape:{shape}",
        f"b:{near} common:{common}",
        f"a:{far} common:{common}",
        f"beside:{commonness(before[-1].key) if before else ''}{'A' if before and before[-1].is_capital else ''}"
        f"|{commonness(behind[0].key) if behind else ''}{'A' if behind and behind[0].is_capital else ''}",
        f"quoted:{_is_quoted(text, inside)}",
    ]
    found += [f"inside:{each.key}" for each in inside]
    if any(character.isdigit() for character in text[inside[0].start : inside[-1].end]):
        found.append(f"digits:{length}")
    found += ["dotted"] if any("." in each.key for each in inside) else []
    found += ["clause inside"] if any(each.ends_clause for each in inside[1:]) else []
    return [*found, *(f"o:{key}" for key in dict.fromkeys(around))]


def _names(text: str, tokens: Sequence[Token], weights: Weights) -> Iterator[Name]:
    for first, last in runs_of(tokens):
        start, end = tokens[first].start, tokens[last - 1].end
        if 2 <= end - start <= NAME_CHARACTERS_MAX:
            chances = chances_of(evidence_of(text, tokens, first, last), RELATIONS, weights)
            name = " ".join(text[start:end].split()).removesuffix("'s").removesuffix("’s")
            yield Name(name, start, end, chances, is_whole=last - first == len(tokens))


def _is_quoted(text: str, inside: Sequence[Token]) -> bool:
    before, behind = text[: inside[0].start][-1:], text[inside[-1].end :][:1]
    return before in ('"', "“", "«", "'", "‘") and behind in ('"', "”", "»", "'", "’")


def _cues(text: str, tokens: Sequence[Token], name: Name, weights: Weights) -> Iterator[str]:
    """The words around a name that ask for similar companies."""
    inside = [place for place, each in enumerate(tokens) if name.start <= each.start and each.end <= name.end]
    for evidence in evidence_of(text, tokens, inside[0], inside[-1] + 1):
        kind, _, word = evidence.partition(":")
        held = weights.get(evidence, {}) if kind in AROUND else {}
        if held.get("like", 0.0) - max(held.get("about", 0.0), held.get("none", 0.0)) >= CUE_MIN:
            yield from word.split()


CONDITIONS_MAX = 12
"""The most stated conditions; and the most assumed ones, preferred ones and tags."""
EXCLUDED_MAX = 12
"""The most words or phrases that are excluded."""
COUNT_MAX = 20

STARTUPS = Comparison(field=STATUS, values=("startup",))


@dataclass(frozen=True)
class TagGroup:
    """Tags that words of the question may name: any of `conditions`. `is_demanded`: the companies likely must have one."""

    name: str
    conditions: tuple[Comparison, ...]
    is_demanded: bool = False

    def values(self, field: str) -> frozenset[str]:
        return frozenset(str(value) for each in self.conditions if each.field == field for value in each.scalars)


@dataclass(frozen=True)
class CompanyIntent:
    """What a question seeks.

    `stated` conditions must hold. `assumed` ones are dropped if no company meets them: guesses at what the question says, and the
    status `startup` if it names none. `tags` and `preferred` conditions raise the rank of a company. No company may contain the
    `excluded` words. `topic` is the text to find by words and meaning, `words` its stems. `is_plain`: the topic consists of tags.
    `missing` are places without companies. `asks` is the query if the question asks for a number or groups, and `is_sure` whether
    it was surely read so. `has_more`: some conditions are over the limit.
    """

    stated: tuple[Condition, ...] = ()
    assumed: tuple[Condition, ...] = ()
    tags: tuple[TagGroup, ...] = ()
    preferred: tuple[Condition, ...] = ()
    excluded: tuple[str, ...] = ()
    topic: str = ""
    words: tuple[str, ...] = ()
    is_plain: bool = False
    count: int | None = None
    missing: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    asks: Query | None = None
    is_sure: bool = False
    has_more: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that every company must meet."""
        return (*self.stated, *self.assumed)

    @property
    def demands(self) -> tuple[Condition, ...]:
        """The conditions that the question states or may state."""
        return (*self.stated, *self.guesses)

    @property
    def guesses(self) -> tuple[Condition, ...]:
        """The conditions that the question may state, likeliest first."""
        return tuple(each for each in self.assumed if each != STARTUPS)

    @property
    def is_stated(self) -> bool:
        """Whether the question limits the companies by more than their status."""
        return bool(self.demands or self.excluded)

    def guessed(self, statuses: Sequence[str]) -> CompanyIntent:
        """The same with the model's statuses, if the question states none."""
        known = tuple(status for status in STATUSES if status in {each.strip().lower() for each in statuses})
        if not known or STARTUPS not in self.assumed:
            return self
        guess = Comparison(field=STATUS, values=known)
        return replace(self, assumed=tuple(guess if each == STARTUPS else each for each in self.assumed))

    def relaxed(self) -> CompanyIntent:
        """The same with one assumed condition less: the least likely guess, and last the status."""
        left_out = self.guesses[-1] if self.guesses else STARTUPS
        return replace(self, assumed=tuple(each for each in self.assumed if each != left_out))

    def bounded(self) -> CompanyIntent:
        """The same with each condition once, within the limits."""
        once = replace(self, stated=_once(self.stated), assumed=_once(self.assumed), preferred=_once(self.preferred))
        kept = replace(
            once,
            stated=once.stated[:CONDITIONS_MAX],
            assumed=once.assumed[:CONDITIONS_MAX],
            preferred=once.preferred[:CONDITIONS_MAX],
            tags=once.tags[:CONDITIONS_MAX],
            excluded=once.excluded[:EXCLUDED_MAX],
        )
        return replace(kept, has_more=kept != once)


def assumed(stated: Sequence[Condition]) -> tuple[Condition, ...]:
    """The assumed status: `startup`, if no condition is on the status."""
    return () if any(STATUS in fields_of(each) for each in stated) else (STARTUPS,)


def _once(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))


def fields_of(condition: Condition) -> set[str]:
    """The fields that a condition compares."""
    return {each.field for each in comparisons_of((condition,))}
