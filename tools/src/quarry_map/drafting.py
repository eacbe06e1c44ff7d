"""Drafts a `quarry.toml` for existing tables: which of them people search, which others there are, and why some are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quarry.collections.names import as_toml, comment_name, is_text, is_writable, joined, slug, unique, words
from quarry.collections.relations import Column, Embedding, Reference, Relation
from quarry.collections.secrets import is_secret_table, with_keys
from quarry.collections.uses import is_comparable, is_single
from quarry.language.word_forms import singular
from quarry.platform.errors import ConfigurationError
from quarry_map.extras import choose_parents, choose_rows, choose_vectors
from quarry_map.table_draft import draft_table
from quarry_map.table_guess import NO_KINDS, DateKinds, TableGuess, in_lines

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
