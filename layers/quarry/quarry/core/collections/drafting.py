"""A first `quarry.toml` for tables that exist: which of them people search, and what else there is and why it is left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quarry.core.collections import toml_text
from quarry.core.collections.guessed_references import with_guessed_references
from quarry.core.collections.guessing import is_text, is_writable
from quarry.core.collections.relations import Embedding, Relation
from quarry.core.collections.row_drafts import choose_rows, choose_vectors
from quarry.core.collections.secrets import is_secret_table, with_keys
from quarry.core.collections.table_draft import TableDraft, draft_table, slug, unique
from quarry.core.collections.table_guess import TableGuess
from quarry.core.errors import ConfigurationError

COLLECTIONS_MAX = 12
"""So many collections are drafted in use; the rest is commented out, for people to choose from."""

ROWS_UNKNOWN = 50
"""What a table without statistics is taken to hold: autovacuum analyses none with fewer changes."""

_TOOLS_OWN = re.compile(
    r"(.*_)?migrations?(_lock)?|(.*_)?schema_(history|info|versions?)|alembic_version|ar_internal_metadata|databasechangelog(lock)?"
)


@dataclass(frozen=True)
class Draft:
    """The text of a file, the collections that it declares, those that it comments out, and why the other tables are left out."""

    text: str
    collections: tuple[str, ...]
    commented: tuple[str, ...]
    left_out: dict[str, str]


def draft(
    schema: str, relations: Sequence[Relation], others: Iterable[Relation] = (), made: Embedding | None = None
) -> Draft:
    """A file for the tables of a schema; `others` are tables of other schemas they refer to, `made` what embeds questions."""
    guesses = {each.qualified: TableGuess(with_keys(each)) for each in (*with_guessed_references(relations), *others)}
    own = [guesses[relation.qualified] for relation in relations]
    referring = _referring(own)
    reasons = {guess.relation.name: _why_left_out(guess, referring[guess.relation.qualified]) for guess in own}
    chosen = sorted((guess for guess in own if reasons[guess.relation.name] is None), key=_importance)
    drafted: dict[str, TableDraft] = {}
    lines = [*_head(schema)]
    for place, guess in enumerate(chosen):
        name = unique(slug(guess.relation.name, "table"), drafted)
        drafted[name] = draft_table(guess, guesses, name)
        choose_rows(drafted[name], guess)
        choose_vectors(drafted[name], guess, made)
        written = _collection(name, guess.relation, drafted[name])
        if place == COLLECTIONS_MAX:
            lines += [
                "",
                f"# Smaller than the first {COLLECTIONS_MAX}: take away the # of those that are to be searched too.",
            ]
        lines += ["", *(written if place < COLLECTIONS_MAX else (f"# {line}".rstrip() for line in written))]
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    lines += _left_out(left_out)
    names = tuple(drafted)
    return Draft("\n".join(lines) + "\n", names[:COLLECTIONS_MAX], names[COLLECTIONS_MAX:], left_out)


def draft_one(name: str, relation: Relation) -> str:
    """The text of a file that declares one table, which has a key, as a collection of that name.

    Categories are searched, too, where there is no other text. Raises ConfigurationError where there is no text at all.
    """
    guess = TableGuess(relation)
    drafted = draft_table(guess, {relation.qualified: guess}, name)
    drafted.settings.pop("describe", None)  # the comment is ours
    if "text" not in drafted.settings:
        texts = [column.name for column in guess.usable if is_text(column)]
        if not texts:
            raise ConfigurationError(f"{relation.name} holds no text that could be searched")
        drafted.settings |= {"text": dict.fromkeys(texts, "B")}
    return "\n".join(_collection(name, relation, drafted)) + "\n"


def _referring(guesses: Iterable[TableGuess]) -> Mapping[tuple[str, str], list[TableGuess]]:
    """The tables that refer to each other one."""
    found: dict[tuple[str, str], list[TableGuess]] = defaultdict(list)
    for guess in guesses:
        for target in {reference.target for reference in guess.relation.references} - {guess.relation.qualified}:
            found[target].append(guess)
    return found


def _importance(guess: TableGuess) -> tuple[int, int, str]:
    rows = ROWS_UNKNOWN if guess.relation.rows is None else guess.relation.rows
    return -rows * guess.text_width, -guess.text_width, guess.relation.name


def _why_left_out(guess: TableGuess, referring: Sequence[TableGuess]) -> str | None:
    relation = guess.relation
    if relation.is_partition:
        return "a partition: its parent is searched"
    if relation.kind not in ("table", "partitioned table"):
        return f'a {relation.kind}: declare it with its key and sync = "sweep" if it is to be searched'
    if not relation.may_select:
        return "the role of DATABASE_URL may not read it"
    if relation.is_row_security_active:
        return "row-level security hides its rows from the role of DATABASE_URL: it needs a policy `using (true)` for select"
    if is_secret_table(relation.name):
        return "secrets, by its name"
    if unwritable := [name for name in guess.secrets if not is_writable(name)]:
        names = ", ".join(map(toml_text.shown, unwritable))
        return f"may hold secrets in {names}, which `hidden` cannot name: declare a view without them"
    if _TOOLS_OWN.fullmatch(relation.name.lower()):
        return "a tool's own, by its name"
    if not guess.key:
        return "no key that can be shown" if relation.keys else "no primary key, and no unique key that is never null"
    return _why_not_searched(guess, referring)


def _why_not_searched(guess: TableGuess, referring: Sequence[TableGuess]) -> str | None:
    if guess.is_join:
        names = [toml_text.shown(reference.target[1]) for reference in guess.relation.references]
        return f"joins {' and '.join(dict.fromkeys(names))}"
    if not guess.texts_used and not guess.is_counted:
        return "no text of its own; a view may join what it belongs to"
    if not referring or not guess.is_lookup:
        return None
    if all(each.is_join for each in referring):
        return "only names; a view may bring them to what they belong to"
    return "only names, which are facets of what refers to it"


def _head(schema: str) -> Iterator[str]:
    yield f"# Drafted by `quarry map` from the tables of {toml_text.shown(schema)}, by their names, types and statistics."
    yield "# Read it over: docs/own-data.md says what each line means."


def _collection(name: str, relation: Relation, drafted: TableDraft) -> Iterator[str]:
    rows = "not analysed yet" if relation.rows is None else f"about {relation.rows:,} rows"
    yield f"[collections.{name}]  # {rows}"
    for setting, value in drafted.settings.items():
        if setting == "hidden" and isinstance(value, dict):
            yield from _hidden(value)
        else:
            yield _line(setting, value, drafted.reasons.get(setting))
    yield from (f"# {remark}" for remark in drafted.remarks)
    if drafted.facets:
        yield ""
        yield f"[collections.{name}.facets]"
    for facet, value in drafted.facets.items():
        yield _line(facet, value, drafted.reasons.get(f"facets.{facet}"))


def _hidden(reasons: Mapping[str, str]) -> Iterator[str]:
    """One line for each column, so that its reason stands next to it and that deleting the line shows it."""
    yield "hidden = ["
    yield from (f"  {toml_text.toml(name)},  # {reason}" for name, reason in reasons.items())
    yield "]"


def _line(name: str, value: object, reason: str | None) -> str:
    return f"{name} = {toml_text.toml(value)}" + (f"  # {reason}" if reason else "")


def _left_out(reasons: dict[str, str]) -> Iterator[str]:
    if reasons:
        yield ""
        yield "# Left out:"
    for name, reason in reasons.items():
        yield f"#   {toml_text.shown(name)}: {reason}"
