"""Finds columns with secrets, by their names, their tables' names, and the values in the planner's statistics; and those that
are shown although they look like secrets, or although another collection of their table hides them.

Drafts hide them. Doubtful ones are hidden too: a person shows them by deleting them from `hidden`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import Literal, NamedTuple

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.names import ends_in, is_category, is_text, joined, means, says, word_list, word_set, words
from quarry.collections.relations import Column, Relation, Shape, ValueTraits, covered, covers, keys_of, overlap
from quarry.collections.uses import Relations, Table, declared_source, uses
from quarry.language.word_forms import singular

Certainty = Literal["certain", "uncertain"]


def _compounds(modifiers: Iterable[str], heads: Iterable[str], certainty: Certainty) -> Mapping[str, Certainty]:
    return dict.fromkeys(map("".join, product(modifiers, heads)), certainty)


@cache
def _all_compounds() -> Mapping[str, Certainty]:
    return {
        **_compounds(word_list("code_of"), ["code"], "uncertain"),
        "inviteid": "uncertain",
        **_compounds(word_list("key_of"), word_list("key"), "certain"),
        **_compounds(word_list("first_key"), word_list("of_key"), "certain"),
        "sessionid": "uncertain",
        **_compounds(word_list("number_of"), word_list("number"), "certain"),
        **_compounds(word_list("id_of"), ["id"], "certain"),
        **_compounds(word_list("pass_of"), ["pass"], "certain"),
        **_compounds(word_list("compound"), [""], "certain"),
    }


_RUN_TOGETHER_MIN, _LONG_MIN = 6, 12
"""From this length on, a compound is also found at the end of a longer word (`userapikey`), and from the second on, at the
end of several words (`emailactivation_code`).
"""
_WORDS_MAX = 3
"""How many words are joined to find a compound: `bank_account_number`."""

BY_NAME = "by its name"
BY_TABLE = "by its table's name"
BYTES = "bytes"

_NEVER = ("B", "D", "E", "G", "I", "R", "T")
"""Categories of types that hold only facts about a secret: when it was changed, whether it exists, where it came from."""
_DOCUMENTS = ("json", "jsonb", "hstore", "xml")


class Suspicion(NamedTuple):
    """Why a column may hold a secret, and whether that is certain."""

    reason: str
    is_certain: bool


def suspicion(column: Column, relation: Relation) -> Suspicion | None:
    """Why a column of a table may hold a secret; None where nothing suggests it. A key in JSON may be secret for its column's
    sake.
    """
    keys = keys_of(column.name)
    if keys and (holder := relation.by_name.get(keys[0])) is not None:
        return suspicion(holder, relation) or suspicion(replace(column, name="_".join(keys[1:])), relation)
    if column.base == "bytea":
        return _by_name(column, relation) or Suspicion(BYTES, is_certain=True)
    if column.category in _NEVER:
        return None
    if column.category == "N":
        return Suspicion(BY_NAME, is_certain=False) if is_secret_number(column.name) else None
    return _by_known_form(column) or _by_name(column, relation) or _by_randomness(column, relation)


def with_keys(relation: Relation) -> Relation:
    """A table with the keys seen in its JSON columns as further columns.

    Keys that are secrets are hidden by themselves; the rest of their column is not.
    """
    columns = (_without_known_secrets(column, relation.documents) for column in relation.columns)
    return replace(relation, columns=(*columns, *relation.documents), documents=())


def _without_known_secrets(column: Column, documents: Sequence[Column]) -> Column:
    documented = {key for each in documents if covers(column.name, each.name) for key in keys_of(each.name)[1:]}
    if not documented:
        return column
    traits = column.traits or ValueTraits(Shape.OTHER)
    keys = (traits.keys | documented) - {key for key in documented if secrecy_of(key) == "certain"}
    return replace(column, traits=traits._replace(keys=keys))


def is_secret_table(name: str) -> bool:
    """Whether the name of a table means secrets."""
    return secrecy_of(name) == "certain"


def _by_known_form(column: Column) -> Suspicion | None:
    traits = column.traits
    if traits is None:
        return None
    if any(secrecy_of(key) == "certain" for key in traits.keys):
        return Suspicion("its values are JSON that contains secrets", is_certain=True)
    is_secret = traits.shape in (Shape.CREDENTIALS, Shape.LINKS, Shape.ACCOUNTS)
    return Suspicion(f"its values {traits.shape}", is_certain=True) if is_secret else None


def _by_name(column: Column, relation: Relation) -> Suspicion | None:
    certainty = secrecy_of(column.name)
    if certainty == "certain":
        return Suspicion(BY_NAME, is_certain=True)
    if _is_document(column) and column.traits is not None and column.traits.keys:
        return None
    if _holds_settings(column, relation):
        return Suspicion(BY_TABLE if is_text(column) else BY_NAME, is_certain=False)
    if _is_ordinary(column, relation):
        return None
    is_uuid_key = column.base == "uuid" and words(column.name)[-1:] == ("id",)
    if certainty and not is_uuid_key:
        return Suspicion(BY_NAME, is_certain=False)
    is_by_table = _secrecy_in(relation.name, column.name) or _is_of_login(column, relation)
    return Suspicion(BY_TABLE, is_certain=False) if is_by_table else None


def _by_randomness(column: Column, relation: Relation) -> Suspicion | None:
    """Random-looking text without another explanation: keys, references and checksums look random too."""
    if column.traits is None or column.traits.shape != Shape.RANDOM:
        return None
    names_something = ends_in(column.name, "names_something") or says(column.name, "link")
    if names_something or _is_key(column, relation) or is_category(column, relation.rows):
        return None
    return Suspicion(f"its values {Shape.RANDOM}", is_certain=False)


def _is_ordinary(column: Column, relation: Relation) -> bool:
    """Whether its values speak against an ambiguous name: they are categories or sentences."""
    is_prose = column.traits is not None and column.traits.shape == Shape.WORDS
    return is_prose or (column.distinct is not None and is_category(column, relation.rows))


def _is_key(column: Column, relation: Relation) -> bool:
    return any((column.name,) == key for key in (relation.primary_key, *(each.columns for each in relation.references)))


def _is_document(column: Column) -> bool:
    return column.base.rpartition(".")[2] in _DOCUMENTS


def _holds_settings(column: Column, relation: Relation) -> bool:
    """Whether it holds values of a settings table, or a document of settings or requests."""
    is_named_so = (
        means(column.name, "settings_document") if _is_document(column) else ends_in(column.name, "settings_text")
    )
    if is_named_so or joined(column.name) == "extradata":
        return not _is_ordinary(column, relation)
    is_value = (is_text(column) or _is_document(column)) and joined(column.name).endswith(word_list("settings_value"))
    return is_value and any(singular(word).endswith(word_list("settings_table")) for word in words(relation.name))


@lru_cache(maxsize=20_000)
def _secrecy_in(table: str, column: str) -> Certainty | None:
    """Whether a column and its table's name together mean a secret, where the column's name alone means nothing."""
    is_of_table = {*words(column)} <= word_set("generic") or says(column, "link")
    return secrecy_of(f"{singular('_'.join(words(table)))}_{column}") if is_of_table else None


def _is_of_login(column: Column, relation: Relation) -> bool:
    """Whether it identifies a login session or holds its data."""
    if not (singular(words(relation.name)[-1]) if words(relation.name) else "").endswith(("session", "sess")):
        return False
    others = {word for each in relation.columns if each is not column for word in words(each.name)}
    is_text_key = is_text(column) and column.name not in {name for each in relation.references for name in each.columns}
    return (
        bool(word_set("login") & others)
        and (is_text_key or _is_document(column))
        and {*words(column.name)} <= word_set("session")
    )


@lru_cache(maxsize=20_000)
def secrecy_of(name: str) -> Certainty | None:
    """Whether a name means a secret; None where it does not."""
    terms = words(name)
    if not terms or terms[0] in word_set("about_first") or {terms[-1], singular(terms[-1])} & word_set("only_about"):
        return None
    if joined(name).endswith(word_list("keyword")):
        return None
    if any(part in joined(name) for part in word_list("in_any_name")):
        return "certain"
    parts = [word for word in terms if word not in word_set("of")]
    certainties = {
        *map(_always, terms),
        *map(_compound, _run_together(parts)),
        *(_compound(word, _RUN_TOGETHER_MIN) for word in terms),
    }
    if "certain" in certainties:
        return "certain"
    return "uncertain" if "uncertain" in certainties or _is_perhaps(terms) or _is_private_link(terms) else None


def is_secret_number(name: str) -> bool:
    """Whether a whole number with this name is a secret: a PIN or a card number, not a count of tokens."""
    terms = words(name)
    ends = ("".join(terms[-size:]) for size in range(1, _WORDS_MAX + 1))
    return bool(terms) and (
        terms[-1] in word_set("of_numbers")
        or any(end in _all_compounds() and end.endswith((*word_list("number"), "id", "code")) for end in ends)
    )


def _always(word: str) -> Certainty | None:
    one = singular(word)
    return "certain" if {word, one} & word_set("always") or one.endswith(word_list("word_ending")) else None


def _is_perhaps(terms: Sequence[str]) -> bool:
    if len(terms) == 1 and terms[0] in word_set("alone"):
        return True
    forms = {terms[-1], singular(terms[-1])}
    is_last = forms & word_set("perhaps") or any(form.endswith("hash") for form in forms)
    return bool(is_last or (forms & word_set("carrier") and word_set("perhaps") & {*map(singular, terms[:-1])}))


def _run_together(terms: Sequence[str]) -> Iterator[str]:
    """Each word, and neighbouring words joined into one."""
    for size in range(1, _WORDS_MAX + 1):
        for start in range(len(terms) - size + 1):
            whole = "".join(terms[start : start + size])
            yield from (whole, singular(whole))


def _compound(whole: str, least: int = _LONG_MIN) -> Certainty | None:
    """The meaning of a compound, or of one at the end of a longer word that has at least this many letters."""
    compounds, ends = _all_compounds(), (whole[start:] for start in range(max(len(whole) - least, 0) + 1))
    return next((compounds[end] for end in ends if end in compounds), None)


def _is_private_link(terms: Sequence[str]) -> bool:
    """Whether it is an address that grants access by itself, or that only machines call."""
    private, links = word_set("private"), word_set("link")
    if not links.isdisjoint(terms):
        return not private.isdisjoint(terms) or "webhook" in "".join(terms)
    return any(word.endswith(link) and word.removesuffix(link) in private for word in terms for link in links)


class Exposed(NamedTuple):
    """A column that looks like a secret. `path` is the key that shows it; empty where only an opened record does."""

    path: tuple[str, ...]
    column: str
    relation: Relation
    suspicion: Suspicion

    @property
    def reason(self) -> str:
        """Why the column is suspected."""
        return f"{self.relation.name}.{self.column} may hold a secret ({self.suspicion.reason})"


def exposures(declared: CollectionDeclaration, source: Relation, relations: Relations) -> Iterator[Exposed]:
    """Each column that looks like a secret and is not hidden, at each key that shows it. An opened record shows all columns."""
    tables = {table: with_keys(each) for table, each in {**relations, source.qualified: source}.items()}
    visible = dict.fromkeys(_visible_columns(declared, {**relations, source.qualified: source}))
    used = {name for table, name, _ in visible if table == source.qualified}
    rest = [(source.qualified, each.name, ()) for each in tables[source.qualified].columns if each.name not in used]
    for table, name, path in (*visible, *rest):
        relation = tables.get(table)
        is_hidden = table == source.qualified and covered(name, declared.hidden)
        column = relation.at(name) if relation and not is_hidden else None
        suspected = suspicion(column, relation) if column and relation else None
        if suspected and suspected.reason != BYTES:
            yield Exposed(path, name, source if table == source.qualified else relations[table], suspected)


def _visible_columns(
    declared: CollectionDeclaration, relations: Relations
) -> Iterator[tuple[Table, str, tuple[str, ...]]]:
    """Table, column and key for every column that a declaration shows, searches or filters by."""
    source = declared_source(declared)
    for use in uses(declared, relations):
        if use.is_shown:
            depth = 2 if use.path[0] in ("text", "facets", "links", "related") else 1
            yield use.of or source, use.column, use.path[:depth]


class Disagreement(NamedTuple):
    """A contradiction to another collection, at the key `path` of this one."""

    collection: str
    path: tuple[str, ...]
    message: str


_Hidden = Mapping[tuple[Table, str], str]
"""The first collection that hides a column, by table and column."""


def disagreements(declared: Mapping[str, CollectionDeclaration], relations: Relations) -> Iterator[Disagreement]:
    """The contradictions between collections of one file: about hidden columns, and about the claim behind a setting."""
    hidden = {
        (declared_source(each), column): name for name, each in reversed([*declared.items()]) for column in each.hidden
    }
    for name, each in declared.items():
        others = {
            (table, column): other
            for (table, column), other in hidden.items()
            if other != name
            and column not in each.shows
            and not (table == declared_source(each) and covered(column, each.hidden))
        }
        yield from _hidden_elsewhere(name, each, others)
        yield from _read_by_view(name, each, relations, others)
    claims: dict[str, tuple[str, str]] = {}
    for name, each in declared.items():
        # a setting has one value in a transaction
        other, claim = claims.setdefault(each.scope_setting or "", (name, each.scope_claim))
        if each.scope_setting is not None and claim != each.scope_claim:
            message = (
                f"the setting {each.scope_setting} has the claim {claim!r} in the collection {other!r}, and {each.scope_claim!r}"
                " here: name another setting, or the same claim"
            )
            yield Disagreement(name, ("scope_claim",), message)


def _hidden_elsewhere(name: str, each: CollectionDeclaration, others: _Hidden) -> Iterator[Disagreement]:
    source, reported = declared_source(each), set[tuple[Table, str]]()
    for table, used, path in _first_visible(each):
        for of, column in sorted(others):
            if table == of and overlap(used, column):
                reported.add((of, column))
                message = (
                    f"the column {column!r} of {'.'.join(table)} is hidden by the collection {others[of, column]!r}"
                )
                yield Disagreement(name, path, f"{message}: {_saying_so(column)}")
    for of, column in sorted(others):
        if of == source and (of, column) not in reported:
            message = f"whole records show the column {column!r}, which the collection {others[of, column]!r} hides"
            yield Disagreement(name, ("hidden",), f"{message}: hide it here too, or {_saying_so(column)}")


def _read_by_view(
    name: str, each: CollectionDeclaration, relations: Relations, others: _Hidden
) -> Iterator[Disagreement]:
    """The hidden columns that a view reads, and so may show under any name. One of the same name may be hidden here too."""
    view = relations.get(declared_source(each))
    reads = {((schema, table), column) for schema, table, column in view.reads} if view else set()
    for of, column in sorted(others):
        is_read = any(table == of and overlap(used, column) for table, used in reads)
        if is_read and not covered(column, each.hidden):
            message = f"the view reads the column {column!r} of {'.'.join(of)}, which the collection {others[of, column]!r} hides"
            yield Disagreement(name, ("source",), f"{message}: hide its own column {column!r}, or {_saying_so(column)}")


def _saying_so(column: str) -> str:
    return f'write shows = ["{column}"] where everybody may see what is made of it'


def _first_visible(declared: CollectionDeclaration) -> Iterator[tuple[Table, str, tuple[str, ...]]]:
    """Each shown column once, at its first key; but at every facet."""
    yielded = set[tuple[object, ...]]()
    for table, column, path in _visible_columns(declared, {}):
        column_of = table, column, path if path[0] == "facets" else ()
        if path != ("key",) and column_of not in yielded:
            yielded.add(column_of)
            yield table, column, path
