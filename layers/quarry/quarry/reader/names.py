"""The names of sources, fields and links, and the paths from one source to another. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TypeVar

from quarry.language.word_forms import stems_of
from quarry.query.paths import NUMERIC
from quarry.schema.source import Field, Kind, Schema, Source
from quarry.spans.numbers import dimension_of, same_unit

HOPS_MAX = 3
"""Most links in a path."""
PREFIX_MIN = 5
"""Fewest letters that two words must share to count as forms of one word."""
HELD_MIN = 4
"""Fewest letters of a word that may be part of a longer one."""
SHORT_MAX = 6
"""Most letters of an abbreviation."""
ALONE = 0.5
"""The share of its name that a word counts for if it appears in no other field name of its source."""
KEY = ("id",)
"""What a key is called in addition to its own name."""
VOWELS = frozenset("aeiou")
UMLAUTS = (("ae", "a"), ("oe", "o"), ("ue", "u"))
TITLE = "title"
DATES: frozenset[Kind] = frozenset({"date", "datetime"})


@dataclass(frozen=True, eq=False)
class FieldName:
    """A field of a source with all its names, as stems."""

    source: str
    name: str
    kind: Kind
    names: tuple[tuple[str, ...], ...]
    is_many: bool = False
    is_key: bool = False
    unit: str | None = None
    currency: str | None = None
    is_listed: bool = False
    link: str | None = None
    """The reference to the row of which this is the title."""
    is_measure: bool = False
    """Whether it is a number that the source declares, over its rows."""
    is_reference: bool = False
    """Whether it is the key of another row."""
    same_as: tuple[str, str] | None = None
    """The source and the field of the referenced row that it reads."""
    has_headings: bool = False
    """Whether its values are named by their last words as well: "Trees" of "Quill Square Trees"."""

    # read for each candidate of each question, while a name is as old as the schema
    @cached_property
    def is_number(self) -> bool:
        return self.kind in NUMERIC

    @cached_property
    def is_amount(self) -> bool:
        """Whether it is a number that measures something, not the key of a row."""
        return self.is_number and not self.is_pointer

    @cached_property
    def is_pointer(self) -> bool:
        """Whether it only points to a row: its own key, or the key of another."""
        return self.is_key or self.is_reference

    @cached_property
    def is_date(self) -> bool:
        return self.kind in DATES

    @cached_property
    def measures(self) -> frozenset[str]:
        """What a word for its highest and lowest values may be said of: a time, money, the dimension of its unit, and the words
        of its names.
        """
        if self.is_date or self.kind == "year":
            return frozenset({"date"})
        stems = {stem for name in self.names for stem in name}
        dimensions = {str(dimension) for each in (self.unit, *stems) if (dimension := dimension_of(each))}
        return frozenset({*stems, *dimensions, self.kind} - {"number"})


@dataclass(frozen=True, eq=False)
class LinkName:
    """A link of a source with all its names, as stems. `target` is the source it leads to, if it leads to one."""

    source: str
    name: str
    names: tuple[tuple[str, ...], ...]
    is_many: bool
    target: str | None


@dataclass(frozen=True, eq=False)
class SourceName:
    """A source with all its names, its fields and its links. `title` is the field that names its rows."""

    name: str
    names: tuple[tuple[str, ...], ...]
    fields: tuple[FieldName, ...]
    links: tuple[LinkName, ...]
    title: FieldName
    predicates: tuple[FieldName, ...] = ()
    measures: tuple[FieldName, ...] = ()
    titles: tuple[FieldName, ...] = ()
    """The fields that make up the title, if there are several."""
    dated: FieldName | None = None
    """The field that dates its rows."""

    def links_to(self, target: str) -> Sequence[LinkName]:
        """The links to related rows of a source, if there are several: one per role in which these refer to a row."""
        links = [link for link in self.links if link.is_many and link.target == target]
        return links if len(links) > 1 else ()

    @cached_property
    def columns(self) -> tuple[FieldName, ...]:
        """The fields of its own rows."""
        return tuple(each for each in self.fields if "." not in each.name and not each.is_many)


@dataclass(frozen=True)
class Way:
    """The links that lead from rows of one source to rows of another, in order."""

    links: tuple[str, ...]
    is_many: bool

    def path(self, name: str) -> str:
        """The path of a field of the target."""
        return ".".join((*self.links, name))


HERE = Way((), False)
Name = SourceName | FieldName | LinkName
Key = TypeVar("Key")
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Key, Item]]) -> Mapping[Key, Sequence[Item]]:
    """The items by their keys, in order."""
    groups: dict[Key, list[Item]] = defaultdict(list)
    for key, item in pairs:
        groups[key].append(item)
    return groups


def _alternatives(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    words = [each.replace("_", " ").replace(".", " ") for each in names]
    stems = dict.fromkeys(stems_of(each) for each in (*words, *map(_with_umlauts, words)))
    return tuple(each for each in stems if each)


def _with_umlauts(text: str) -> str:
    """A name with spelled-out umlauts as plain vowels, since words of questions have no accents: `rueckgabe` is "rückgabe"."""
    for spelling, plain in UMLAUTS:
        text = text.replace(spelling, plain)
    return text


def source_name(source: Source, schema: Schema) -> SourceName:
    """The names of a source, its fields and its links."""
    columns = [*_same_columns(source)]
    fields = [_field_name(source, same, schema) for same in columns]
    dated = next((each for each, same in zip(fields, columns, strict=True) if source.dated in same), None)
    title = next((each for each in fields if _is_title(source, source.fields[each.name])), None)
    links = _links(source)
    fields += _references(source, schema, {each.link for each in fields}, {each.name for each in links})
    fields += _of_roles(source, links, schema)
    nouns = _alternatives((*source.nouns, source.label, source.name))
    predicates = tuple(FieldName(source.name, name, "boolean", _alternatives((name,))) for name in source.predicates)
    measures = tuple(
        FieldName(source.name, name, "number", _alternatives((name, each.label, *each.synonyms)), is_measure=True)
        for name, each in source.measures.items()
    )
    own = title or FieldName(source.name, TITLE, "text", (("name",), (TITLE,)))
    titles = () if title else _titles(source, fields)
    return SourceName(source.name, nouns, tuple(fields), links, own, predicates, measures, titles, dated)


def _titles(source: Source, fields: Sequence[FieldName]) -> tuple[FieldName, ...]:
    """The fields that make up a title, in order."""
    title = source.title("t")
    positions = [(title.find(sql), each) for each in fields if (sql := _own_sql(source, each)) and sql in title]
    return tuple(each for _, each in sorted(positions, key=lambda item: item[0])) if len(positions) > 1 else ()


def _own_sql(source: Source, each: FieldName) -> str:
    """The SQL of a column of the source itself."""
    own = source.fields.get(each.name)
    return _plain(own.sql("t")) if own is not None and own.related is None and not each.is_key else ""


def _same_columns(source: Source) -> Iterable[Sequence[str]]:
    """The fields, grouped by column: a column may appear both declared and plain. Fields over several references are left to
    their own source.
    """
    pairs: list[tuple[object, str]] = []
    for name, each in source.fields.items():
        link = each.related
        if link is None or link.rows is None or link.target is None or link.is_many:
            pairs.append((_plain(each.sql("t")) if link is None else (link.name, each.sql("t")), name))
    return grouped(pairs).values()


def _references(
    source: Source, schema: Schema, link_titles: Container[str | None], links: Container[str]
) -> Iterator[FieldName]:
    """The titles of referenced rows without a declared field. They go by the name of the reference."""
    for name, link in source.links.items():
        target = schema.sources.get(link.target or "")
        if target is None or link.is_many or link.rows is not None or name in link_titles or name not in links:
            continue
        titles = (own for own, each in target.fields.items() if _is_title(target, each))
        path = f"{name}.{next(titles, TITLE)}"
        yield FieldName(source.name, path, "text", _alternatives((link.label, name)), link=name)


def _links(source: Source) -> tuple[LinkName, ...]:
    """The links of a source; of several over the same columns, the first."""
    different = {
        (link.target or name, link.is_many, link.on("t", "o"), link.rows): name
        for name, link in reversed([*source.links.items()])
    }
    names = {*different.values()}
    return tuple(
        LinkName(source.name, name, _alternatives((link.label, name)), link.is_many, link.target)
        for name, link in source.links.items()
        if name in names
    )


def _of_roles(source: Source, links: Sequence[LinkName], schema: Schema) -> Iterator[FieldName]:
    """The fields of rows that a row refers to in several roles, by role: the `town` of the sender, of the recipient. The way to
    such rows leads through the first role only.
    """
    to = Counter(link.target for link in links if not link.is_many)
    for link in links:
        target = schema.sources.get(link.target or "")
        if link.is_many or target is None or to[link.target] < 2:
            continue
        for same in _same_columns(target):
            each = target.fields[same[0]]
            is_pointer = _is_key(target, each) or _refers(target, each)
            if each.related is None and not is_pointer and not _is_title(target, each):
                words = (link.name, source.links[link.name].label)
                names = _alternatives(f"{role} {name}" for role in words for name in (*same, each.label))
                path, is_listed = f"{link.name}.{each.name}", each.listed is not None
                yield FieldName(
                    source.name, path, each.kind, names, each.is_array, False, each.unit, each.currency, is_listed,
                    same_as=(target.name, each.name),
                )  # fmt: skip


def _plain(sql: str) -> str:
    """The SQL of a column without a cast to its type."""
    return sql.partition("::")[0].strip("()")


def _field_name(source: Source, same: Sequence[str], schema: Schema) -> FieldName:
    """A field with all names of its column. Its own name is the first, the declared one."""
    name = same[0]
    each = source.fields[name]
    words: list[str] = [source.fields[other].label for other in same]
    if each.listed is not None:
        words += each.words
    words += same_unit(each.unit)
    is_key = _is_key(source, each)
    words += KEY if is_key else ()
    is_many = each.is_array or bool(each.related and each.related.is_many)
    link = each.related if each.related and not each.related.is_many else None
    target = schema.sources.get(link.target or "") if link else None
    to = link.name if link and (target is None or _has_sql_of_title(target, each)) else None
    is_reference = not is_key and each.related is None and _refers(source, each)
    return FieldName(
        source.name, name, each.kind, _alternatives((*same, *words)), is_many, is_key, each.unit, each.currency,
        each.listed is not None, to, is_reference=is_reference, has_headings=each.facet == "title",
    )  # fmt: skip


def _refers(source: Source, each: Field) -> bool:
    """Whether a column leads to rows of another source."""
    column = _plain(each.sql("t"))
    ways = (link.on("t", "o") for link in source.links.values() if not link.is_many)
    return any(column in way.replace("(", " ").replace(")", " ").split() for way in ways)


def _is_key(source: Source, each: Field) -> bool:
    """Whether a field is the key of the rows."""
    return each.related is None and _plain(each.sql("t")) == _plain(source.key("t"))


def _is_title(source: Source, each: Field) -> bool:
    """Whether a field is the name of the rows."""
    return each.related is None and _has_sql_of_title(source, each)


def _has_sql_of_title(source: Source, each: Field) -> bool:
    """Whether a field reads what names the rows of a source, not another column of them."""
    title, sql = source.title("t"), _plain(each.sql("t"))
    return title in (sql, f"{sql}::text") or f"btrim({sql}" in title


@dataclass(frozen=True)
class Names:
    """Everything that has a name, by the stems of its names."""

    sources: Mapping[str, SourceName]
    _ways: dict[str, dict[str, Way]] = field(default_factory=dict)
    _paths: dict[tuple[str, FieldName], tuple[str, bool] | None] = field(default_factory=dict)

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[Name]]:
        """What has this stem in one of its names."""
        things: dict[str, dict[Name, None]] = defaultdict(dict)
        for source in self.sources.values():
            everything = source.fields, source.predicates, source.measures, (source.title,), source.links
            for each in chain[Name]((source,), *everything):
                for stem in {stem for name in each.names for stem in name}:
                    things[stem][each] = None
        return {stem: [*same] for stem, same in things.items()}

    @property
    def fields(self) -> Iterator[FieldName]:
        """The fields of all sources."""
        return chain.from_iterable(source.fields for source in self.sources.values())

    @cached_property
    def by_values(self) -> Mapping[tuple[str, str], Sequence[FieldName]]:
        """The fields that hold the values of a source's field: itself, and the same field by the role of a reference."""
        return grouped((each.same_as or (each.source, each.name), each) for each in self.fields)

    def role_of(self, each: FieldName) -> FieldName:
        """What a field goes by: the reference, where it is a field of the referenced row by its role."""
        link = each.name.partition(".")[0] if each.same_as else None
        fields = self.sources[each.source].fields
        return next((other for other in fields if link and other.link == link), each)

    @cached_property
    def _sharing(self) -> Mapping[tuple[str, str], int]:
        """How many fields of a source have a stem in their names."""
        # by its role a field is named whole, and takes no word from the row's own
        own = (each for each in self.fields if each.same_as is None)
        return Counter(key for each in own for key in {(each.source, stem) for name in each.names for stem in name})

    def weights(self, name: Name, words: Sequence[str]) -> Mapping[str, float]:
        """The share of each stem in one of its names: the more fields of the source use the stem, the smaller (`emp` in
        `emp_name`, `emp_phone`). They add up to 1.
        """
        stems = dict.fromkeys(words)
        if not isinstance(name, FieldName):
            return dict.fromkeys(stems, 1 / len(stems))
        weights = {stem: 1 / math.sqrt(max(1, self._sharing[name.source, stem])) for stem in stems}
        total = sum(weights.values())
        return {stem: weight / total for stem, weight in weights.items()}

    def is_alone(self, name: Name, stem: str) -> bool:
        """Whether no other field of its source has this stem in its name."""
        return isinstance(name, FieldName) and self._sharing[name.source, stem] == 1

    @cached_property
    def _short(self) -> Mapping[str, Sequence[str]]:
        """The stems of names that may be abbreviations, by their first letters."""
        return grouped((stem[0], stem) for stem in self.by_stem if 1 < len(stem) <= SHORT_MAX and stem.isalpha())

    def shortening(self, words: Sequence[str]) -> Iterator[str]:
        """The stems that may abbreviate these words: the first letters of each of several words (`dob`, `fname`), or some
        letters of one (`dept`, `qty`).
        """
        for stem in self._short.get(words[0][:1], ()):
            if _joins(stem, words) if len(words) > 1 else _skips(stem, words[0]):
                yield stem

    @cached_property
    def by_prefix(self) -> Mapping[str, Sequence[str]]:
        """The stems of names by their first letters."""
        return grouped((stem[:PREFIX_MIN], stem) for stem in self.by_stem if len(stem) >= PREFIX_MIN)

    @cached_property
    def _ends(self) -> Mapping[str, Sequence[str]]:
        """The stems of names by their first and last letters."""
        cuts = ((stem, cut) for stem in self.by_stem for cut in range(HELD_MIN, len(stem)))
        return grouped((end, stem) for stem, cut in cuts for end in (stem[:cut], stem[-cut:]))

    def compounds(self, stem: str) -> Sequence[str]:
        """The stems that may be several words written as one, starting or ending with this one: `quotestatus`."""
        return self._ends.get(stem, ()) if len(stem) >= HELD_MIN else ()

    def way(self, base: str, target: str) -> Way | None:
        """The shortest way from one source to another, over references if possible. None if they are too far apart."""
        if base == target:
            return HERE
        ways = self._ways.get(base) or self.reached(base)
        return ways.get(target)

    def path(self, base: str, each: FieldName) -> tuple[str, bool] | None:
        """The path to a field, and whether a row may have several values of it. None if no links lead there. The title of a
        referenced row is the reference's own field.
        """
        if (base, each) not in self._paths:
            self._paths[base, each] = self._path(base, each)
        return self._paths[base, each]

    def _path(self, base: str, each: FieldName) -> tuple[str, bool] | None:
        way = self.way(base, each.source)
        if way is None or (each.same_as and way.is_many):
            return None
        if way.links and each is self.sources[each.source].title:
            *before, last = way.links
            at = self._at(base, before)
            same = next((other.name for other in self.sources[at].fields if other.link == last), None)
            if same is not None:
                return ".".join((*before, same)), way.is_many
        return way.path(each.name), way.is_many or each.is_many

    def _at(self, base: str, links: Sequence[str]) -> str:
        """The source that links lead to."""
        for name in links:
            base = next(link.target for link in self.sources[base].links if link.name == name) or base
        return base

    def reached(self, base: str) -> Mapping[str, Way]:
        """Every source that can be reached from one, with the way to it."""
        if base not in self._ways:
            self._ways[base] = self._from(base)
        return self._ways[base]

    def _from(self, base: str) -> dict[str, Way]:
        ways: dict[str, Way] = {base: HERE}
        for allows_many in (False, True):
            waiting = deque(ways)
            while waiting:
                here = waiting.popleft()
                way = ways[here]
                if len(way.links) == HOPS_MAX:
                    continue
                for link in self.sources[here].links:
                    target = link.target or ""
                    if target in ways or target not in self.sources or (link.is_many and not allows_many):
                        continue
                    ways[target] = Way((*way.links, link.name), way.is_many or link.is_many)
                    waiting.append(target)
        return ways


def _joins(short: str, words: Sequence[str]) -> bool:
    """Whether a word consists of the first letters of each of these words, one or more letters each."""
    if not words:
        return not short
    first, rest = words[0], words[1:]
    for length in range(1, len(short) - len(rest) + 1):
        if not first.startswith(short[:length]):
            return False
        if _joins(short[length:], rest):
            return True
    return False


def _skips(short: str, word: str) -> bool:
    """Whether a word consists of some letters of another in order, with vowels only among the first two."""
    if len(short) >= len(word) or not VOWELS.isdisjoint(short[2:]) or (len(short) == 2 and short[1] in VOWELS):
        return False
    letters = iter(word)
    return word[0] == short[0] and all(letter in letters for letter in short)


KEPT_MAX = 64
"""How many schemas to keep the names of."""
_cache: dict[tuple[int, ...], tuple[Sequence[Source], Names]] = {}


def names_of(schema: Schema) -> Names:
    """The names in a schema. They are kept for schemas of the same sources."""
    sources = tuple(schema.sources.values())
    key = tuple(map(id, sources))
    entry = _cache.get(key)
    if entry is None:
        if len(_cache) >= KEPT_MAX:
            _cache.clear()
        # holding the sources keeps their ids from being used again
        entry = _cache[key] = sources, Names({name: source_name(each, schema) for name, each in schema.sources.items()})
    return entry[1]
