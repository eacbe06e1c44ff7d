"""What a draft takes of a table: the rows that frameworks have not marked deleted, and vectors that the table holds. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.collections.column_types import VECTOR, dimensions_of
from quarry.collections.draft_parts import TableDraft
from quarry.collections.draft_reckoned import quoted
from quarry.collections.guessing import is_date, is_writable, words
from quarry.collections.guessing_numbers import is_flag
from quarry.collections.json_paths import keys_of
from quarry.collections.relations import Column, Embedding
from quarry.collections.table_guess import TableGuess

_DELETED_AT = frozenset(
    """deleted_at discarded_at removed_at destroyed_at deleted deleted_on deleted_date date_deleted""".split()
)
"""What Rails (paranoia, discard), Laravel, Django (safedelete) and Sequelize call the moment at which a row was deleted."""
_IS_DELETED = frozenset(("is_deleted", "deleted", "is_removed", "is_discarded", "discarded", "soft_deleted"))
"""What Django (model-utils, softdelete) and others call the mark of a deleted row."""
_IS_ACTIVE = frozenset(("is_active",))
"""What Django calls the mark of an account that it has in the place of deleting it."""
_OF_ACCOUNTS = frozenset(("is_superuser", "is_staff", "last_login", "date_joined", "password", "encrypted_password"))
_SHOWN = "delete this line to have them too"


def choose_rows(draft: TableDraft, guess: TableGuess) -> None:
    """Leaves out the rows that a column says to be deleted. What says so is no facet: all rows are alike in it."""
    for column in guess.relation.columns:
        condition = _kept_rows(column, guess)
        if condition is None:
            continue
        draft.settings = {"source": draft.settings["source"], "where": condition, **draft.settings}
        draft.reasons["where"] = f"guessed: the others are deleted; {_SHOWN}"
        for name in [name for name, facet in draft.facets.items() if _column_of(name, facet) == column.name]:
            del draft.facets[name]
        return


def choose_vectors(draft: TableDraft, guess: TableGuess, made: Embedding | None) -> None:
    """Has texts not embedded that have vectors already: if these may be of the model that embeds questions, else as a remark."""
    found = [each for each in guess.relation.columns if VECTOR.accepts(each) and is_writable(each.name)]
    if len(found) != 1 or "text" not in draft.settings:
        return
    dimensions = dimensions_of(found[0])
    if made is None or dimensions != made.dimensions:
        of = f"of {dimensions} dimensions" if dimensions else "if they are of the model that embeds questions"
        draft.remarks.append(
            f'vectors = "{found[0].name}"  # {of}: in the place of `embed`, once the settings name their model'
        )
        return
    draft.settings.pop("embed", None)
    draft.reasons.pop("embed", None)
    draft.set("vectors", found[0].name, f"if {made.model} made them: delete this line to have the texts embedded")


def _kept_rows(column: Column, guess: TableGuess) -> str | None:
    """The condition of rows that are not deleted, by a column that says it; None for any other."""
    if keys_of(column.name) or not is_writable(column.name):
        return None
    said, name = "_".join(words(column.name)), quoted(column)
    if said in _DELETED_AT and is_date(column):
        return f"{name} is null"
    is_truth = column.category == "B" and not column.is_array
    if said in _IS_DELETED and (is_truth or is_flag(column)):
        return f"{name} is not true" if is_truth else f"coalesce({name}, 0) = 0"
    if said in _IS_ACTIVE and (is_truth or is_flag(column)) and _OF_ACCOUNTS & {*guess.relation.by_name}:
        return f"{name} is not false" if is_truth else f"coalesce({name}, 1) <> 0"
    return None


def _column_of(name: str, facet: object) -> str | None:
    if isinstance(facet, Mapping):
        return None if "by" in facet or "expression" in facet else str(facet.get("column", name))
    return name
