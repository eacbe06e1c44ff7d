"""What people call the facets of anybody's tables beside their names, and the words that lead to their values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from quarry.collections.collection import Collection
from quarry.collections.declaration import Referred, table_name
from quarry.collections.guessing import words
from quarry.language.nouns import plural, singular
from quarry.language.stemming import stem
from quarry.platform.text import STOP_WORDS
from quarry.retrieval.facets import Facet
from quarry.spans.date_verbs import is_verb
from quarry.spans.lexicon import PERIODS
from quarry.spans.quantities import Dimension, dimension_of

_NO_NAMES = (
    frozenset("type name code number kind key id date day time no total".split())
    | PERIODS.keys()
    | frozenset(STOP_WORDS)
)
_MEASURED: Mapping[Dimension, tuple[str, ...]] = {"time": ("length", "duration"), "bytes": ("size",), "area": ("size",)}
"""What a number measures that is called by its unit alone."""

_LASTING = ("runtime", "runningtime", "duration")
_LASTING_NAMES = ("duration", "runtime", "running time", "length")
"""What people call how long something lasts, whichever of these it is called."""
_SAYING_YES = frozenset(
    """allowed permitted accepted written included provided required needed available given done made signed sent received
    attached enabled offered granted present""".split()
)
"""What ends the name of a yes or no that is of what stands before: pets are allowed, breakfast is included."""

_FROM = "from, started at, starting at, started from, began at, beginning at, departed from, departing from, left from"
_TO = "to, ended at, ending at, finished at, arrived at, arriving at, arrived in, ended in"
_DIRECTIONS = dict.fromkeys("from origin start departure source pickup".split(), _FROM) | dict.fromkeys(
    "to destination end arrival target dropoff".split(), _TO
)


def leads_of(name: str) -> tuple[str, ...]:
    """The words that stand before values of a facet whose name begins with where something comes from or goes to."""
    first, *rest = name.split("_")
    return tuple(_DIRECTIONS[first].split(", ")) if rest and first in _DIRECTIONS else ()


def with_everyday_names(facets: Sequence[Facet], collection: Collection) -> list[Facet]:
    """The facets with what people call them too, where nothing else of the table is called so."""
    taken = {stem(word) for facet in facets for word in (facet.label, facet.name, *facet.words)}
    added: dict[str, list[str]] = defaultdict(list)
    for called in (
        _by_table(collection),
        _by_own_table(facets, collection),
        _by_way(collection),
        _by_kind(facets),
        _by_unit(facets),
        _by_last_word(facets),
    ):
        for facet, word in called:
            if stem(word) not in taken:
                added[facet].append(word)
    return [replace(each, words=tuple(dict.fromkeys((*each.words, *added[each.name])))) for each in facets]


def _by_table(collection: Collection) -> Iterator[tuple[str, str]]:
    """What the rows of the table are called that the only such facet names: "employee" of `support_rep`."""
    # what is called after its own column there is told of such a row, and is not its name
    of = {
        name: given.of
        for name, given in collection.declaration.facets.items()
        if given.of
        and isinstance(given.title, str)
        and not given.title.endswith(name)
        and not name.endswith(given.title)
    }
    for name, table in of.items():
        is_one = collection.declaration.facets[name].through is None and [*of.values()].count(table) == 1
        if is_one and table_name(table) != collection.source:
            yield name, singular(" ".join(words(table_name(table)[1])))


def _by_way(collection: Collection) -> Iterator[tuple[str, str]]:
    """With what the row is called that it is told of: "boat type" of the type of the boat that a row refers to."""
    for name, given in collection.declaration.facets.items():
        reference = given.reference
        while reference and isinstance(reference.title, Referred):
            reference = reference.title
        if reference and given.through is None:
            yield (
                name,
                f"{singular(' '.join(words(table_name(reference.of)[1])))} {given.label or name.replace('_', ' ')}",
            )


def _by_own_table(facets: Sequence[Facet], collection: Collection) -> Iterator[tuple[str, str]]:
    """Without what the rows themselves are called: "type" of the `boat_type` of boats."""
    own = f"{singular(' '.join(words(collection.source[1])))} "
    for facet in facets:
        if facet.kind == "value" and facet.steps == 0 and facet.label.lower().startswith(own):
            yield facet.name, facet.label.lower().removeprefix(own)


def _by_kind(facets: Sequence[Facet]) -> Iterator[tuple[str, str]]:
    """Without a word that only says of what kind it is: "duration" of `duration_minutes`, "covered" of `is_covered`."""
    for facet in facets:
        first, *rest = facet.label.lower().split() or [""]
        if facet.kind == "boolean" and rest and first in ("is", "has", "was", "are"):
            yield facet.name, " ".join(rest)
        if facet.kind == "boolean" and len(rest) == 1 and rest[0] in _SAYING_YES:
            # "without a signature" of `signature_given`
            yield facet.name, first
        if facet.unit and rest and dimension_of(rest[-1]):
            yield facet.name, " ".join([first, *rest[:-1]])
        if facet.kind == "money" and rest[-2:-1] == ["per"] and dimension_of(rest[-1]) and rest[-1] not in PERIODS:
            # "less than 30 a night"
            yield from ((facet.name, f"{per} {rest[-1]}") for per in ("per", "a", "an", "each"))
        if facet.kind == "number" and rest[-1:] == ["percent"]:
            # "alcohol" of `alcohol_pct`
            yield facet.name, " ".join([first, *rest[:-1]])
        if facet.kind == "number" and [first, *rest][-1] == "rating":
            # "one-star reviews"
            yield facet.name, "stars"
        if facet.kind == "number" and rest[-1:] in (["count"], ["number"]):
            # "seats" of `seat_count`
            yield facet.name, plural(singular(" ".join([first, *rest[:-1]])))
        if (
            facet.kind == "number"
            and "".join([first, *rest]).startswith(_LASTING)
            and dimension_of(facet.unit) == "time"
        ):
            yield from ((facet.name, name) for name in _LASTING_NAMES)


def _by_unit(facets: Sequence[Facet]) -> Iterator[tuple[str, str]]:
    """What the only number of its kind measures that is called by its unit: "length" of `milliseconds`."""
    for dimension, names in _MEASURED.items():
        alike = [facet for facet in facets if facet.unit and dimension_of(facet.unit) == dimension]
        if len(alike) == 1 and alike[0].label.split()[0] in (alike[0].unit, f"{alike[0].unit}s"):
            yield from ((alike[0].name, name) for name in names)


def _by_last_word(facets: Sequence[Facet]) -> Iterator[tuple[str, str]]:
    """The last word, where the row itself, or what it refers to next, has but one of it: "country" of `billing_country`."""
    ends: dict[str, list[Facet]] = defaultdict(list)
    for facet in facets:
        said = facet.label.lower().split()
        is_name = len(said) > 1 and said[-1] not in _NO_NAMES and not dimension_of(said[-1])
        # "booked" is done with seats, and is not their number
        is_name = is_name and not (facet.kind == "number" and is_verb(said[-1]))
        if is_name and facet.kind not in ("date", "year", "boolean"):
            ends[said[-1]].append(facet)
    for word, ending in ends.items():
        near = [each for each in ending if each.steps == min(other.steps for other in ending)]
        if len(near) == 1:
            yield near[0].name, word
