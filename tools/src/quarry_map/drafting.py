"""Drafts a `quarry.toml` for existing tables: which of them people search, which others there are, and why some are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quarry.collections.declaration import PARAMETERS
from quarry.collections.names import (
    EPOCH_LEAST,
    LABEL_WIDTH,
    as_toml,
    codes_of,
    comment_name,
    date_purpose,
    full_name,
    in_hundredths,
    is_amount,
    is_contact,
    is_date,
    is_epoch,
    is_flag,
    is_number,
    is_place,
    is_role,
    is_text,
    is_truth,
    is_writable,
    is_year,
    joined,
    language_of,
    means,
    quoted_table,
    slug,
    toml_key,
    unique,
    unit_of,
    words,
)
from quarry.collections.relations import Column, Embedding, Reference, Relation, covered, own_name
from quarry.collections.secrets import BYTES, Suspicion, is_secret_table, with_keys
from quarry.collections.uses import is_comparable, is_single
from quarry.language.word_forms import singular
from quarry.platform.contract import NAME_PATTERN
from quarry.platform.errors import ConfigurationError
from quarry.schema.source import DATE
from quarry.spans.numbers import currency_code
from quarry_map.extras import (
    Guesses,
    Reached,
    add_duration,
    add_fields,
    add_links,
    add_overdue,
    add_sum,
    choose_parents,
    choose_rows,
    choose_vectors,
    last_word,
    measure_notes,
    name_of_amount,
    names_of_references,
    quoted,
    reached,
    telling_columns,
)
from quarry_map.table_guess import NO_KINDS, DateKinds, TableDraft, TableGuess, in_lines, name_by_reference

SEARCHED_MAX = 12
"""How many collections are drafted to be searched by words and meaning. The rest is counted, filtered and grouped by."""

ROWS_UNKNOWN = 50
"""The assumed size of a table without statistics: autovacuum analyses no table with fewer changes."""
TENANCY_TABLES_MIN, TENANCY_SHARE_MIN = 3, 1 / 3
"""A scope column in at least this many tables, and this share of them, names the tenant of every row."""

_OWN_NAME_MIN = 4
"""The least length of a table name that a column's name may end in: `owneruserid`."""

_TOOLS_OWN = re.compile(
    r"(.*_)?migrations?(_lock)?|(.*_)?schema_(history|info|versions?)|alembic_version|ar_internal_metadata|databasechangelog(lock)?"
)

Group = Literal["searched", "counted", "joining", "names", "private"]
_HEADINGS: Mapping[Group, Sequence[str]] = {
    "searched": ("Searched by words and meaning; also counted, filtered and grouped.",),
    "counted": ('Counted, filtered and grouped, but not searched. To search one too, add `text = { COLUMN = "A" }`.',),
    "joining": ("Join tables: they connect rows of other tables.",),
    "names": ("Lists of names that other tables refer to.",),
    "private": (
        "Private: these rows have owners, so each section is commented out. Before you remove its #, set `scope_setting` to",
        "the setting that your policies read. Callers then see only their own rows.",
        "Without `scope` and `scope_setting`, every caller sees all rows.",
    ),
}


@dataclass(frozen=True)
class Draft:
    """A drafted file: its text, the collections in use, those commented out, and the reason for each table left out."""

    text: str
    collections: tuple[str, ...]
    commented: tuple[str, ...]
    skipped: dict[str, str]


def draft(
    schema: str,
    relations: Sequence[Relation],
    others: Iterable[Relation] = (),
    embedding: Embedding | None = None,
    kinds: DateKinds = NO_KINDS,
) -> Draft:
    """A file for the tables of a schema.

    `others` are tables of other schemas that they refer to, `embedding` is the model that embeds questions, and `kinds` are the
    meanings of date names where a model has read them.
    """
    own = _with_owners([TableGuess(with_keys(each)) for each in with_guessed_references(relations)])
    guesses = {each.relation.qualified: each for each in (*own, *(TableGuess(with_keys(each)) for each in others))}
    referred = {reference.target for guess in own for reference in guess.relation.references}
    reasons = {guess.relation.name: _why_left_out(guess) for guess in own}
    candidates = sorted((guess for guess in own if reasons[guess.relation.name] is None), key=_importance)
    drafted: dict[str, Group] = {}
    lines: dict[Group, list[str]] = {group: [] for group in _HEADINGS}
    for guess in candidates:
        name = unique(slug(guess.relation.name, "table"), drafted)
        is_full = [*drafted.values()].count("searched") == SEARCHED_MAX
        group = drafted[name] = _group(guess, is_named=guess.relation.qualified in referred, is_full=is_full)
        is_searched = group == "searched" or (group == "private" and _is_searched(guess))
        table = draft_table(guess, guesses, name, is_searched=is_searched, kinds=kinds)
        choose_rows(table, guess)
        choose_parents(table, guess, guesses)
        choose_vectors(table, guess, embedding)
        sections = in_lines(name, guess.relation, table, _owner_lines(guess) if group == "private" else ())
        lines[group] += ["", *(f"# {line}".rstrip() if group == "private" else line for line in sections)]
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    text = "\n".join(_file(schema, lines, skipped)) + "\n"
    used = tuple(name for name, group in drafted.items() if group != "private")
    return Draft(text, used, tuple(name for name, group in drafted.items() if group == "private"), skipped)


def _file(schema: str, lines: Mapping[Group, Sequence[str]], skipped: Mapping[str, str]) -> Iterator[str]:
    yield f"# Drafted by `quarry map` from the names, types and statistics of the tables in {comment_name(schema)}."
    yield "# Review it before you apply it: docs/declaration.md explains each line."
    for group, heading in _HEADINGS.items():
        if lines[group]:
            yield from ("", *(f"# {line}" for line in heading), *lines[group])
    if skipped:
        yield from ("", "# Left out:", *(f"#   {comment_name(name)}: {reason}" for name, reason in skipped.items()))


def _group(guess: TableGuess, *, is_named: bool, is_full: bool) -> Group:
    if guess.is_private:
        return "private"
    if guess.is_join:
        return "joining"
    if is_named and guess.is_lookup:
        return "names"
    return "searched" if _is_searched(guess) and not is_full else "counted"


def _is_searched(guess: TableGuess) -> bool:
    return bool(guess.key) and not guess.is_join and (bool(guess.texts_used) or guess.is_counted)


def _owner_lines(guess: TableGuess) -> Iterator[str]:
    """The lines that limit each caller to their own rows."""
    if guess.relation.knows_user and guess.owner is None:
        yield "# Quarry cannot tell from its policy who owns a row: if you use this section, every caller sees all rows"
    elif guess.owner is None:
        yield "# its rows belong to rows above: to show callers only their own, use a view with the owner's column as `scope`"
    else:
        yield f"scope = {as_toml(guess.owner.name)}"
        yield 'scope_setting = "app.caller"'


def _with_owners(guesses: Sequence[TableGuess]) -> list[TableGuess]:
    """The guesses, completed with what other tables say: which owners are ordinary rows here, and which rows are private.

    An owner is ordinary where it has a table here, unless its column names the tenant of every row. Rows are private that
    have an owner who is not ordinary, whose policy tells database users apart, or that refer to private rows.
    """
    tables = {guess.relation.qualified for guess in guesses}
    owners = Counter(each.name for guess in guesses for each in guess.scopes)
    most = max(TENANCY_TABLES_MIN, len(guesses) * TENANCY_SHARE_MIN)

    def ordinary(guess: TableGuess) -> frozenset[str]:
        referring = (each.name for each in guess.scopes if each.name in guess.references)
        return frozenset(name for name in referring if guess.references[name].target in tables and owners[name] < most)

    own = [replace(guess, ordinary_owners=ordinary(guess)) for guess in guesses]
    private = {guess.relation.qualified for guess in own if guess.owner is not None or guess.relation.knows_user}
    while (
        more := {
            guess.relation.qualified
            for guess in own
            if any(reference.target in private for reference in guess.relation.references)
        }
        - private
    ):
        private |= more
    return [replace(guess, is_private=guess.relation.qualified in private) for guess in own]


def draft_one(name: str, relation: Relation) -> str:
    """A file that declares one table with a key as a collection of this name.

    Categories are searched as well where there is no other text. Raises ConfigurationError where there is no text at all.
    """
    guess = TableGuess(relation)
    drafted = draft_table(guess, {relation.qualified: guess}, name)
    drafted.settings.pop("describe", None)  # the comment is ours
    if "text" not in drafted.settings:
        texts = [column.name for column in guess.usable if is_text(column)]
        if not texts:
            raise ConfigurationError(f"{relation.name} holds no text to search")
        drafted.settings |= {"text": dict.fromkeys(texts, "B")}
    return "\n".join(in_lines(name, relation, drafted)) + "\n"


def _importance(guess: TableGuess) -> tuple[int, int, str]:
    rows = ROWS_UNKNOWN if guess.relation.rows is None else guess.relation.rows
    return -rows * guess.text_width, -guess.text_width, guess.relation.name


def _why_left_out(guess: TableGuess) -> str | None:
    relation = guess.relation
    if relation.is_partition:
        return "a partition: its parent is searched"
    if relation.kind not in ("table", "partitioned table"):
        return f'a {relation.kind}: declare it with its key and sync = "sweep" to search it'
    if not relation.may_select:
        return "the role of DATABASE_URL may not read it"
    if relation.is_row_security_active:
        return "row-level security hides its rows from the role of DATABASE_URL: it needs a policy `using (true)` for select"
    if is_secret_table(relation.name):
        return "its name suggests secrets"
    if unwritable := [name for name in guess.secrets if not is_writable(name)]:
        names = ", ".join(map(comment_name, unwritable))
        return f"may hold secrets in {names}, which `hidden` cannot name: declare a view without them"
    if _TOOLS_OWN.fullmatch(relation.name.lower()):
        return "its name suggests that it belongs to a tool"
    is_hidden = bool({*relation.primary_key} & guess.secrets.keys())
    return "no key that can be shown" if relation.primary_key and not guess.key and not is_hidden else None


def with_guessed_references(relations: Sequence[Relation]) -> list[Relation]:
    """The tables, each with references from columns without a foreign key to the table that their names mean.

    `customer_id` refers to a table `customers`.
    """
    targets = [target for relation in relations if (target := _target(relation))]
    return [replace(each, references=(*each.references, *_guessed(each, targets))) for each in relations]


def _target(relation: Relation) -> tuple[Relation, Column, str] | None:
    """A table with a key of one column, that column, and the name of columns that refer to it."""
    if relation.is_partition or relation.kind not in ("table", "partitioned table") or len(relation.primary_key) != 1:
        return None
    key = relation.by_name[relation.primary_key[0]]
    own, target_name = _name_of(relation), joined(key.name)
    return relation, key, target_name if target_name.startswith(own) else own + target_name


def _name_of(relation: Relation) -> str:
    *before, last = words(relation.name) or ("",)
    return "".join((*before, singular(last)))


def _guessed(relation: Relation, targets: Iterable[tuple[Relation, Column, str]]) -> Iterable[Reference]:
    keys = {name for reference in relation.references for name in reference.columns}
    for column in relation.columns:
        if column.name in keys or relation.primary_key == (column.name,) or not is_single(column):
            continue
        own_name = joined(column.name)
        fitting = [
            (len(name), target.qualified, key)
            for target, key, name in targets
            if is_comparable(column, key)
            and (own_name == name or (own_name.endswith(name) and len(_name_of(target)) >= _OWN_NAME_MIN))
        ]
        if fitting:
            _, target, key = max(fitting, key=lambda each: each[0])
            yield Reference((column.name,), target, (key.name,), is_guessed=True)


FACETS_MAX = 20
REACHED_MAX = 14
"""How many facets a table may get from the tables that it refers to."""
DESCRIPTION_MAX = 500

_PURPOSES = {
    "happened": "when it happened",
    "created": "when it was written",
    "later": "when it is due",
    "other": "no other date fits better",
}


def draft_table(
    guess: TableGuess, guesses: Guesses, name: str, *, is_searched: bool = True, kinds: DateKinds = NO_KINDS
) -> TableDraft:
    """The declaration of a table as the collection `name`.

    `guesses` are the tables that it may refer to, `kinds` the meanings of its date names. If it `is_searched`, it has a key;
    otherwise its rows are only counted.
    """
    relation, draft = guess.relation, TableDraft()
    draft.set("source", quoted_table(*relation.qualified))
    if guess.key != relation.primary_key:
        draft.set("key", [*guess.key], "the primary key cannot be used; these are unique")
    if is_searched:
        _add_texts(draft, guess, name)
    elif guess.title or not guess.is_join:
        draft.set("title", _title(guess, name))
    marked = {column.name: "html" for column in guess.usable if column.is_html}
    draft.set("markup", marked, "shown and searched as plain text: values hold tags")
    if guess.texts_used:
        language = language_of([column.name for column in relation.columns])
        draft.set("language", language, "guessed by the names of its columns")
    if guess.date:
        draft.set("date", guess.date.name, f"guessed: {_PURPOSES[date_purpose(guess.date)]}")
    if guess.page:
        draft.set("url", f"{{{guess.page.name}}}")
    if is_searched and not relation.may_trigger:
        draft.set("sync", "sweep", "the role of DATABASE_URL may not create triggers on it")
    draft.set("describe", " ".join((relation.comment or "").split())[:DESCRIPTION_MAX])
    draft.set(
        "hidden", {name: _why_hidden(relation.by_name[name], why, is_searched) for name, why in guess.secrets.items()}
    )
    _add_facets(draft, guess, guesses, name, is_searched=is_searched)
    add_overdue(draft, guess, kinds)
    add_links(draft, guess, guesses)
    add_fields(draft, guess)
    draft.remarks += measure_notes(draft, guess)
    draft.remarks += [epoch_note(each) for each in guess.usable if is_epoch(each)]
    draft.remarks += [
        f'to show callers only their own rows: scope = {as_toml(each.name)}, scope_setting = "app.caller"'
        for each in guess.named_owners
    ]
    return draft


def epoch_note(column: Column) -> str:
    """That a column holds moments as numbers, and what makes them dates."""
    unit, divided = ("milliseconds", " / 1000.0") if (column.least or 0) >= EPOCH_LEAST * 1000 else ("seconds", "")
    moment = f"to_timestamp({quoted(column)}{divided})"
    return f"{comment_name(column.name)} holds {unit} since 1970: to ask about dates, search a view with {moment}"


def _why_hidden(column: Column, suspected: Suspicion, is_searched: bool) -> str:
    """The comment on a column in `hidden`: why, and how to show one that may be no secret."""
    if suspected.is_certain:
        return suspected.reason if suspected.reason == BYTES else f"a secret: {suspected.reason}"
    warning = f"may be a secret: {suspected.reason}; delete this line to show it"
    if is_text(column) and is_searched:
        return f'{warning}, add `{toml_key(column.name)} = "D"` to `text` to search it'
    return warning


def _add_texts(draft: TableDraft, guess: TableGuess, name: str) -> None:
    if not guess.texts_used:
        draft.set("title", _title_of_key(guess, name))
        draft.set("text", dict.fromkeys(guess.key, "D"), "it has no text: rows are counted, and found by their keys")
        draft.settings["embed"] = []
        return
    weights = {
        **{column.name: "A" for column in guess.title},
        **{column.name: "C" if place else "B" for place, column in enumerate(guess.prose)},
        **{column.name: "D" for column in guess.other_texts},
    }
    draft.set("title", _title(guess, name) if guess.title or not guess.prose else None)
    draft.set("text", weights)
    columns = guess.prose if guess.person else [*guess.title, *guess.prose]
    embedded = [column.name for column in columns if not is_contact(column)]
    if not guess.prose and all(column.width and column.width <= LABEL_WIDTH for column in columns):
        embedded = []  # a vector of each takes far longer than all else: words and spellings find short names
    if embedded != [*weights]:
        draft.settings["embed"] = embedded
    if not embedded:
        draft.reasons["embed"] = "by words only: names and numbers have no meaning to search by"
    if guess.prose and len(guess.prose) < len(weights):
        draft.set("cite", [column.name for column in guess.prose])


def _title(guess: TableGuess, name: str) -> str | None:
    """The title of rows: the names of people, and the key where there is no title."""
    if guess.person:
        return " ".join(f"{{{column.name}}}" for column in guess.person)
    return guess.title[0].name if guess.title else _title_of_key(guess, name)


def _title_of_key(guess: TableGuess, name: str) -> str | None:
    """A title made from the key: "payment 17"."""
    if not guess.key:
        return None
    telling = [key for key in guess.key if not is_date(guess.relation.by_name[key])] or guess.key
    return " ".join([singular(name.replace("_", " ")), *(f"{{{key}}}" for key in telling)])


def _add_facets(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str, *, is_searched: bool) -> None:
    """Add the facets of a table.

    Rows that are only counted get no facets with names of other tables' rows: a question about those follows a link, and no
    values have to be stored for each table.
    """
    titles = [] if is_searched and not guess.title_repeats else guess.title
    texts = [each for each in guess.texts_used if each not in titles] if is_searched else []
    used = {column.name for column in (*texts, guess.date, guess.page) if column} | {*guess.key}
    used -= {column.name for column in (*guess.key_categories, *([] if is_searched else titles))}
    for column in guess.relation.columns:
        is_named = column.name in guess.references and is_searched
        if (
            covered(column.name, guess.secrets)
            or (column.name in used and not is_named)
            or len(draft.facets) == FACETS_MAX
        ):
            continue
        facet = _facet(column, guess, guesses) if is_named or column.name not in guess.references else None
        if facet is None:
            continue
        facet_name = unique(_facet_name(facet.name, name), draft.facets)
        is_plain = facet.declared == {"kind": facet.declared["kind"], "column": facet_name}
        draft.facets[facet_name] = facet.declared["kind"] if is_plain else facet.declared
        if facet.reason:
            draft.reasons[f"facets.{facet_name}"] = facet.reason
    for facet in _joined_facets(guess, guesses) if is_searched else ():
        if len(draft.facets) < FACETS_MAX:
            draft.facets[unique(_facet_name(facet.name, name), draft.facets)] = facet.declared
    add_sum(draft, guess, guesses)
    add_duration(draft, guess)
    if is_searched:
        _add_reached(draft, guess, guesses, name)


def _add_reached(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str) -> None:
    """Add facets from the tables that rows refer to: the date of the nearest, where the table has none, their names, kinds
    and places.
    """
    paths = reached(guess, guesses)
    is_of_others = (
        not guess.texts_used
        or means(guess.relation.name, "sale")
        or any(name in guess.references for name in guess.key)
    )
    is_part = guess.date is None and is_of_others
    dated = next((each for each in paths if is_part and each.guess.date), None)
    if dated and dated.guess.date and DATE not in draft.facets:
        draft.facets[DATE] = dated.declared("date", dated.guess.date.name)
        draft.reasons[f"facets.{DATE}"] = "guessed: the rows have none of their own"
    telling = [
        (each, column, kind)
        for each in paths
        for column, kind in telling_columns(each.guess)
        # where staff live says nothing about the row
        if kind != "place" or not means(each.guess.relation.name, "serving")
    ]
    further = [
        *(
            (each, *_named_by_reference(each))
            for each in paths
            if len(each.steps) > 1 and each.guess.title and not any(map(is_contact, each.guess.title))
        ),
        *((each, column.name, kind, column.name) for each, column, kind in telling),
    ]
    names_of_paths = {*names_of_references(guess, guesses).values()}
    for each, facet_name, kind, title in further[:REACHED_MAX]:
        ends = {last_word(facet) for facet in (*draft.facets, *names_of_paths)}
        table = f"{singular('_'.join(words(each.guess.relation.name)))}_" if last_word(facet_name) in ends else ""
        own = unique(_facet_name(table + facet_name, name), {*draft.facets, *names_of_paths})
        draft.facets[own] = each.declared(kind, title)


def _named_by_reference(each: Reached) -> tuple[str, str, str]:
    """Name, kind and title of a facet for the name of a row further away."""
    column, _ = each.steps[-1]
    return name_by_reference(column, each.guess), _kind_of_names(each.guess), _title_of(each.guess)


def _joined_facets(guess: TableGuess, guesses: Guesses) -> Iterator[_Facet]:
    """Facets for the rows that a third table joins this one with: the categories of a film."""
    for joins in guesses.values():
        references = joins.joined
        if references is None or not guess.may_tell_of(joins):
            continue
        own = [
            each for each in references if each.target == guess.relation.qualified and each.target_columns == guess.key
        ]
        others = [each for each in references if each not in own]
        other = guesses.get(others[0].target) if len(own) == 1 else None
        if other is None or not other.title or not guess.may_tell_of(other):
            continue
        declared = {
            "kind": "array", "through": quoted_table(*joins.relation.qualified),
            "of": quoted_table(*other.relation.qualified), "title": _title_of(other),
        }  # fmt: skip
        # columns without a foreign key have to be named
        names = {key: each.columns[0] for key, each in (("by", own[0]), ("to", others[0])) if each.is_guessed}
        yield _Facet(singular("_".join(words(other.relation.name))), declared | names)


def _title_of(other: TableGuess) -> str:
    """The title of another table's rows: all names of a person."""
    if other.person and len(other.title) > 1:
        return " ".join(f"{{{column.name}}}" for column in other.title)
    return other.title[-1].name


@dataclass(frozen=True)
class _Facet:
    name: str
    declared: Mapping[str, object]
    reason: str | None = None


def _facet(column: Column, guess: TableGuess, guesses: Guesses) -> _Facet | None:
    if not is_writable(column.name) or column in guess.scopes:
        return None
    if column.name in guess.references:
        return _reference_facet(column, guess, guesses)
    is_part = column.name in guess.referring and column not in guess.key_categories
    kind = None if is_part or is_epoch(column) else _kind(column, guess)
    if kind is None:
        return None
    facet = full_name(own_name(column.name))
    if (codes := codes_of(column)) and not is_truth(column):
        settings = {"kind": "value", "column": column.name, "synonyms": codes}
        return _Facet(facet, settings, "the names of its values, as the column's comment says")
    unit = unit_of(column) if kind == "number" else None
    if unit:
        is_named = facet == column.name and re.fullmatch(NAME_PATTERN, facet) and facet not in PARAMETERS
        settings = {"kind": kind} if is_named else {"kind": kind, "column": column.name}
        return _Facet(facet, {**settings, "unit": unit})
    declared: dict[str, object] = {"kind": kind}
    reason = None
    if kind == "money" and (code := next(filter(None, map(currency_code, words(column.name))), None)):
        declared["currency"] = code
    elif kind == "money" and guess.currency:
        declared["currency"] = {"column": guess.currency.name}
    elif kind == "money":
        reason = 'which currency? { kind = "money", currency = "…" }'
    if in_hundredths(column):
        return _Facet(name_of_amount(column), {**declared, "expression": f"{quoted(column)} / 100"}, reason)
    return _Facet(facet, {**declared, "column": column.name}, reason)


def _kind(column: Column, guess: TableGuess) -> str | None:
    if column.is_array:
        return "array" if column.category in ("S", "E", "N") else None
    if column.category == "B":
        return "boolean"
    if is_date(column):
        return "date" if date_purpose(column) != "bookkeeping" else None
    if is_truth(column) and column not in guess.title:
        return "boolean"
    if column in (*guess.categories, *guess.title, *guess.key_categories):
        if column in guess.title and guess.are_people:
            return "name"
        is_somebodys = guess.are_people and is_role(column)
        return "title" if is_somebodys else "place" if is_place(column, guess.relation) else "value"
    if is_year(column):
        return "year"
    if is_flag(column):
        return "boolean"
    return ("money" if is_amount(column) else "number") if is_number(column) else None


def _reference_facet(column: Column, guess: TableGuess, guesses: Guesses) -> _Facet | None:
    reference = guess.references[column.name]
    other = guesses.get(reference.target)
    if other is None or not other.title or not guess.joins(column, other, reference.target_columns[0]):
        return None
    return _Facet(
        name_by_reference(column.name, other),
        {
            "kind": _kind_of_names(other),
            "by": column.name,
            "of": quoted_table(*other.relation.qualified),
            "title": _title_of(other),
        },
        "guessed by its name: no foreign key" if reference.is_guessed else "",
    )


def _kind_of_names(other: TableGuess) -> str:
    return "name" if other.are_people else "place" if other.is_place_list else "value"


def _facet_name(name: str, collection: str) -> str:
    base = slug(name, "facet")
    return slug(f"{singular(collection)}_{base}", "facet") if base in PARAMETERS else base
