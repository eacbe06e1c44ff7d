"""One table as `quarry.toml` may declare it, by what its columns are likely to be for."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from quarry.core.collections import toml_text
from quarry.core.collections.column_types import is_comparable, is_single
from quarry.core.collections.declaration import PARAMETERS
from quarry.core.collections.guessing import (
    LABEL_WIDTH,
    date_purpose,
    in_hundredths,
    in_percent,
    is_amount,
    is_contact,
    is_date,
    is_flag,
    is_number,
    is_place,
    is_role,
    is_sale,
    is_share,
    is_side_amount,
    is_text,
    is_writable,
    is_year,
    language_of,
    serves,
    unit_of,
    words,
    written_out,
)
from quarry.core.collections.json_paths import JSON_TYPES, covered, keys_of, own_name
from quarry.core.collections.reached import Guesses, Reached, buys, last_word, reached, telling_columns
from quarry.core.collections.relations import Column, Reference
from quarry.core.collections.search_table import DATE
from quarry.core.collections.secrets import BYTES, Suspicion
from quarry.core.collections.table_guess import TableGuess
from quarry.core.contract import NAME_PATTERN
from quarry.core.language.nouns import singular
from quarry.core.language.stemming import stem
from quarry.core.query.measures import PAYMENTS, QUANTITIES, TOTALS

SHORTENED_MIN = 3
"""So many letters of a table's name tell which one a column refers to."""
FACETS_MAX = 20
REACHED_MAX = 14
"""So many facets more a table may have by what it refers to."""
REVENUE = ("revenue", "sales", "turnover")
"""What people call the amounts of what they sell."""
DESCRIPTION_MAX = 500

_KEY_ENDINGS = frozenset(
    {"id", "fk", "ref", "code", "no", "nr", "num", "number", "key", "uuid", "sku", "isbn", "ean", "barcode"}
)
_PURPOSES = {
    "happened": "when it happened",
    "created": "when it was written",
    "later": "when it is due",
    "other": "there is no better one",
}


@dataclass
class TableDraft:
    """A collection's declaration: its settings and facets, and by their names why they were guessed.

    `remarks` are whole lines of comment.
    """

    settings: dict[str, object] = field(default_factory=dict)
    facets: dict[str, object] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def set(self, name: str, value: object, reason: str | None = None) -> None:
        """Set what has a value."""
        if value:
            self.settings[name] = value
            if reason:
                self.reasons[name] = reason


def draft_table(guess: TableGuess, guesses: Guesses, name: str) -> TableDraft:
    """The declaration of a table that has a key and text, to be called `name`. `guesses` are of those that it may refer to."""
    relation, draft = guess.relation, TableDraft()
    draft.set("source", toml_text.table(*relation.qualified))
    if guess.key != relation.primary_key:
        draft.set("key", [*guess.key], "no primary key that serves; these are unique")
    _add_texts(draft, guess, name)
    if guess.texts_used:
        language = language_of([column.name for column in relation.columns])
        draft.set("language", language, "guessed by what its columns are called")
    if called := _also_called(guess):
        draft.set("nouns", called)
    if guess.date:
        draft.set("date", guess.date.name, f"guessed: {_PURPOSES[date_purpose(guess.date)]}")
    if guess.page:
        draft.set("url", f"{{{guess.page.name}}}")
    if not relation.may_trigger:
        draft.set("sync", "sweep", "the role of DATABASE_URL may not create triggers on it")
    draft.set("describe", " ".join((relation.comment or "").split())[:DESCRIPTION_MAX])
    draft.set("hidden", {secret: _why_hidden(relation.by_name[secret], why) for secret, why in guess.secrets.items()})
    _suggest_scope(draft, guess)
    _add_facets(draft, guess, guesses, name)
    return draft


def _why_hidden(column: Column, suspected: Suspicion) -> str:
    """The comment behind a column in `hidden`: why, and how to show what may be no secret."""
    if suspected.is_certain:
        return suspected.reason if suspected.reason == BYTES else f"a secret: {suspected.reason}"
    shown = f"may be a secret: {suspected.reason}; delete this line to show it"
    return f'{shown}, add `{toml_text.key(column.name)} = "D"` to `text` to search it' if is_text(column) else shown


def _also_called(guess: TableGuess) -> list[str]:
    """What rows are called by themselves and what everybody calls what has such a key: titles that an ISBN tells are books."""
    own = singular(" ".join(words(guess.relation.name)))
    is_of_books = [words(key)[-1:] for key in guess.key] == [("isbn",)] and "book" not in words(own)
    return [own, "book"] if is_of_books else []


def _add_texts(draft: TableDraft, guess: TableGuess, name: str) -> None:
    if not guess.texts_used:
        draft.set("title", _title_of_key(guess, name))
        draft.set("text", dict.fromkeys(guess.key, "D"), "no text of its own: it is counted, and found by its key")
        draft.settings["embed"] = []
        return
    weights = {
        **{column.name: "A" for column in guess.title},
        **{column.name: "C" if place else "B" for place, column in enumerate(guess.prose)},
        **{column.name: "D" for column in guess.other_texts},
    }
    if guess.person:
        draft.set("title", " ".join(f"{{{column.name}}}" for column in guess.person))
    elif guess.title:
        draft.set("title", guess.title[0].name)
    elif not guess.prose:
        draft.set("title", _title_of_key(guess, name))
    draft.set("text", weights)
    meant = guess.prose if guess.person else [*guess.title, *guess.prose]
    embedded = [column.name for column in meant if not is_contact(column)]
    if not guess.prose and all(column.width and column.width <= LABEL_WIDTH for column in meant):
        embedded = []  # a vector of each takes far longer than all else: words and spellings find short names
    if embedded != [*weights]:
        draft.settings["embed"] = embedded
    if not embedded:
        draft.reasons["embed"] = "words only: names and numbers have no meaning beside them"
    if guess.prose and len(guess.prose) < len(weights):
        draft.set("cite", [column.name for column in guess.prose])


def _title_of_key(guess: TableGuess, name: str) -> str:
    """What rows are called that nothing gives a name to: "payment 17"."""
    telling = [key for key in guess.key if not is_date(guess.relation.by_name[key])] or guess.key
    return " ".join([singular(name.replace("_", " ")), *(f"{{{key}}}" for key in telling)])


def _suggest_scope(draft: TableDraft, guess: TableGuess) -> None:
    if guess.scopes:
        draft.remarks += [
            f"scope = {toml_text.toml(guess.scopes[0].name)}  # if callers may only see rows of their own",
            'scope_setting = "app.caller"  # the setting by which policies know the caller',
        ]


def _add_facets(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str) -> None:
    texts = guess.texts_used[1:] if guess.title_repeats else guess.texts_used
    used = {column.name for column in (*texts, guess.date, guess.page) if column} | {*guess.key}
    used -= {column.name for column in guess.key_categories}
    unused = []
    for column in guess.relation.columns:
        if covered(column.name, guess.secrets) or (column.name in used and column.name not in guess.references):
            continue
        facet = _facet(column, guess, guesses) if len(draft.facets) < FACETS_MAX else None
        if facet is None:
            unused.append(f"{toml_text.shown(column.name)} ({_why_unused(column, guess)})")
            continue
        called = unique(_facet_name(facet.name, name), draft.facets)
        draft.facets[called] = facet.declared["kind"] if called == facet.declared.get("column") else facet.declared
        if facet.reason:
            draft.reasons[f"facets.{called}"] = facet.reason
    for facet in _joined_facets(guess, guesses):
        if len(draft.facets) < FACETS_MAX:
            draft.facets[unique(_facet_name(facet.name, name), draft.facets)] = facet.declared
    _add_sum(draft, guess, guesses)
    _add_duration(draft, guess)
    _add_reached(draft, guess, guesses, name)
    if unused:
        draft.remarks.append(f"left out: {', '.join(unused)}")


def _add_reached(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str) -> None:
    """What other tables tell of the rows: the date of the nearest where they have none, names of what they lead to, and what kind
    of thing that is and where.
    """
    found = reached(guess, guesses)
    is_of_others = (
        not guess.texts_used or is_sale(guess.relation.name) or any(name in guess.references for name in guess.key)
    )
    is_part = guess.date is None and is_of_others
    dated = next((each for each in found if is_part and _is_of_what_happened(each.guess)), None)
    if dated and dated.guess.date and DATE not in draft.facets:
        draft.facets[DATE] = dated.declared("date", dated.guess.date.name)
        draft.reasons[f"facets.{DATE}"] = "guessed: they have none of their own"
    telling = [
        (each, column, kind)
        for each in found
        for column, kind in telling_columns(each.guess)
        # where who serves lives says nothing of the row
        if kind != "place" or not serves(each.guess.relation.name)
    ]
    further = [
        *((each, *_called_by_reference(each)) for each in found if len(each.steps) > 1 and _is_told(each)),
        *((each, column.name, kind, column.name) for each, column, kind in telling),
    ]
    for each, called, kind, title in further[:REACHED_MAX]:
        ends = {last_word(facet) for facet in draft.facets}
        own = (
            called
            if last_word(called) not in ends
            else f"{singular('_'.join(words(each.guess.relation.name)))}_{called}"
        )
        draft.facets[unique(_facet_name(own, name), draft.facets)] = each.declared(kind, title)


def _is_of_what_happened(guess: TableGuess) -> bool:
    is_made = guess.date is not None and (date_purpose(guess.date) != "created" or is_sale(guess.relation.name))
    return is_made and not guess.are_people


def _is_told(each: Reached) -> bool:
    return bool(each.guess.title) and not any(map(is_contact, each.guess.title))


def _called_by_reference(each: Reached) -> tuple[str, str, str]:
    """Name, kind and title of the facet for what a row is called that others lead to."""
    column, _ = each.steps[-1]
    return _name_by_reference(column, each.guess), _kind_of_names(each.guess), _title_of(each.guess)


def _add_sum(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """What a line costs that has a price and a quantity; and that an amount of a sale is what people call revenue."""
    numbers = [column for column in guess.usable if is_number(column) and column.name not in guess.referring]
    amounts = [each for each in numbers if is_amount(each) and not is_side_amount(each)]
    prices, quantities = _prices(guess), _quantities(guess)
    totals = [each for each in amounts if each not in prices]
    is_revenue = is_sale(guess.relation.name) and buys(guess, guesses) and not _pays_for_lines(guess, guesses)
    if len(totals) == 1 and is_revenue and (called := _name_of_amount(totals[0])) in draft.facets:
        declared = draft.facets[called]
        draft.facets[called] = {**(declared if isinstance(declared, dict) else {"kind": "money"}), "words": [*REVENUE]}
    if totals or len(prices) != 1 or len(quantities) != 1:
        return
    reductions = [each for each in numbers if "discount" in words(each.name)]
    product = " * ".join(map(_in_expression, (prices[0], quantities[0], *reductions)))
    product += " / 100" if in_hundredths(prices[0]) else ""
    if reductions and not all(is_share(each) or in_percent(each) for each in reductions):
        draft.remarks.append(
            f'an amount? {{ kind = "money", expression = {toml_text.toml(product)} }}, if that is how it is reckoned'
        )
        return
    is_held = bool({"stock", "inventory"} & {*words(quantities[0].name)})
    called = unique(REVENUE[0] if is_revenue else "stock_value" if is_held else "amount", draft.facets)
    declared = {"kind": "money", "expression": product}
    draft.facets[called] = {**declared, **({"words": [*REVENUE[1:], "amount"]} if is_revenue else {})}
    draft.reasons[f"facets.{called}"] = "guessed"


def _pays_for_lines(guess: TableGuess, guesses: Guesses) -> bool:
    """Whether its rows pay for what others list with price and quantity: what was sold for is told by these."""
    targets = {each.target for each in guess.references.values()}
    listed = (each for each in guesses.values() if each is not guess and _prices(each) and _quantities(each))
    is_payment = any(stem(word) in PAYMENTS for word in words(guess.relation.name))
    return is_payment and any(targets & {each.target for each in lines.references.values()} for lines in listed)


def _prices(guess: TableGuess) -> list[Column]:
    amounts = (column for column in guess.usable if is_amount(column) and not is_side_amount(column))
    return [each for each in amounts if "price" in words(each.name) and TOTALS.isdisjoint(words(each.name))]


def _quantities(guess: TableGuess) -> list[Column]:
    numbers = (column for column in guess.usable if is_number(column) and column.name not in guess.referring)
    return [each for each in numbers if QUANTITIES & {*words(each.name)}]


def _add_duration(draft: TableDraft, guess: TableGuess) -> None:
    """How many days lie between the only date on which something began, by its name, and the only one on which it ended."""
    span = guess.span
    if span and "duration" not in draft.facets:
        begun, ended = span
        days = f"{_in_expression(ended)} - {_in_expression(begun)}"
        draft.facets["duration"] = {"kind": "number", "expression": days, "unit": "days"}
        draft.reasons["facets.duration"] = "guessed"


def _in_expression(column: Column) -> str:
    name = column.name if re.fullmatch(r"[a-z_][a-z0-9_]*", column.name) else '"' + column.name.replace('"', '""') + '"'
    if "discount" not in words(column.name):
        return name
    part = f"coalesce({name}, 0)" if column.is_nullable else name
    return f"(1 - {part} / 100)" if in_percent(column) else f"(1 - {part})"


def _joined_facets(guess: TableGuess, guesses: Guesses) -> Iterator[_Facet]:
    """What other tables join the rows with: the categories of a film."""
    for joins in guesses.values():
        references = joins.joined
        if references is None or not joins.relation.may_select or joins.relation.is_row_security_active:
            continue
        own = [
            each for each in references if each.target == guess.relation.qualified and each.target_columns == guess.key
        ]
        others = [each for each in references if each not in own]
        other = guesses.get(others[0].target) if len(own) == 1 else None
        if other is None or not other.title or not other.relation.may_select or other.relation.is_row_security_active:
            continue
        declared = {
            "kind": "array", "through": toml_text.table(*joins.relation.qualified),
            "of": toml_text.table(*other.relation.qualified), "title": _title_of(other),
        }  # fmt: skip
        # what no foreign key says has to be named
        named = {key: each.columns[0] for key, each in (("by", own[0]), ("to", others[0])) if each.is_guessed}
        yield _Facet(singular("_".join(words(other.relation.name))), declared | named)


def _title_of(other: TableGuess) -> str:
    """What rows of a table are called: people by all their names."""
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
        return _reference_facet(column, guess.references[column.name], guesses)
    is_part = column.name in guess.referring and column not in guess.key_categories
    kind = None if is_part else _kind(column, guess)
    if kind is None:
        return None
    called = written_out(own_name(column.name))
    unit = unit_of(column, guess.relation.name) if kind == "number" else None
    if unit:
        return _Facet(
            called,
            {
                "kind": kind,
                **({} if _is_facet_name(column.name) and called == column.name else {"column": column.name}),
                "unit": unit[0],
            },
            "the unit is guessed" if unit[1] else None,
        )
    reason = 'which currency? { kind = "money", currency = "…" }' if kind == "money" else None
    if in_hundredths(column):
        return _Facet(_name_of_amount(column), {"kind": kind, "expression": f"{_in_expression(column)} / 100"}, reason)
    return _Facet(called, {"kind": kind, "column": column.name}, reason)


def _name_of_amount(column: Column) -> str:
    """What an amount's facet is called: `total` of `total_cents`."""
    return "_".join(words(column.name)[:-1]) if in_hundredths(column) else written_out(column.name)


def _is_facet_name(name: str) -> bool:
    return bool(re.fullmatch(NAME_PATTERN, name)) and name not in PARAMETERS


def _kind(column: Column, guess: TableGuess) -> str | None:
    if column.is_array:
        return "array" if column.category in ("S", "E", "N") else None
    if column.category == "B":
        return "boolean"
    if is_date(column):
        return "date" if date_purpose(column) != "bookkeeping" else None
    if column in (*guess.categories, *guess.title, *guess.key_categories):
        is_somebodys = bool(guess.person) and is_role(column)
        return "title" if is_somebodys else "place" if is_place(column, guess.relation) else "value"
    if is_year(column):
        return "year"
    if is_flag(column):
        return "boolean"
    return ("money" if is_amount(column) else "number") if is_number(column) else None


def _reference_facet(column: Column, reference: Reference, guesses: Guesses) -> _Facet | None:
    other = guesses.get(reference.target)
    if other is None or not other.relation.may_select or other.relation.is_row_security_active:
        return None
    key = other.relation.by_name.get(reference.target_columns[0])
    if not other.title or key is None or not is_writable(key.name):
        return None
    if not (is_single(column) and is_single(key) and is_comparable(column, key)):
        return None
    return _Facet(
        _name_by_reference(column.name, other),
        {
            "kind": _kind_of_names(other),
            "by": column.name,
            "of": toml_text.table(*other.relation.qualified),
            "title": _title_of(other),
        },
        "guessed by its name: no foreign key" if reference.is_guessed else "",
    )


def _name_by_reference(column: str, other: TableGuess) -> str:
    """What a facet is called whose column refers to a table: `support_agent` of `support_agent_id`."""
    said = words(column)
    called = "_".join(said[:-1] if said[-1] in _KEY_ENDINGS else said)
    own = singular("_".join(words(other.relation.name)))
    if not called or (len(called) >= SHORTENED_MIN and own.startswith(called)):
        # `isbn`, `prod_id`: of books, of products
        return own
    # of what is run together, the table's name tells where a word begins
    return f"{called.removesuffix(own)}_{own}" if re.search(rf"[^_]{re.escape(own)}$", called) else called


def _kind_of_names(other: TableGuess) -> str:
    return "name" if other.are_people else "place" if other.is_place_list else "value"


def _why_unused(column: Column, guess: TableGuess) -> str:
    if not is_writable(column.name):
        return "its name cannot be written here"
    if column in guess.scopes:
        return "whose it is"
    if column.name in guess.referring:
        return "refers to what has no name"
    if column.base in JSON_TYPES and any(keys_of(each.name)[:1] == (column.name,) for each in guess.relation.columns):
        return "its keys are named like columns"
    if is_date(column):
        return "only tells of changes" if date_purpose(column) == "bookkeeping" else "one facet too many"
    return (
        "tells rows apart, nothing more" if is_text(column) or column.category == "N" else toml_text.shown(column.type)
    )


def _facet_name(name: str, collection: str) -> str:
    called = slug(name, "facet")
    return slug(f"{singular(collection)}_{called}", "facet") if called in PARAMETERS else called


def slug(name: str, otherwise: str) -> str:
    """A name as collections and facets may have it; `otherwise` stands for what cannot be kept."""
    if re.fullmatch(NAME_PATTERN, name):
        return name
    called = re.sub(r"[^a-z0-9]+", "_", "_".join(words(name))).strip("_")
    return (called if called[:1].isalpha() else f"{otherwise}_{called}")[:48].rstrip("_")


def unique(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    if name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name[:44]}_{number}") not in taken)
