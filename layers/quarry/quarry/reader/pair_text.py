"""A candidate in words, as the pair model reads it next to the question: short, and the same words for the same query. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quarry.reader.compose import Composed, Json

OPERATORS: Mapping[str, str] = {
    "=": "is", "!=": "is not", "<": "less than", "<=": "at most", ">": "more than", ">=": "at least",
    "between": "between", "contains": "contains", "is_null": "is missing", "not_null": "is known",
}  # fmt: skip
FUNCTIONS: Mapping[str, str] = {
    "count": "number of", "count_distinct": "number of different", "sum": "total", "avg": "average", "min": "lowest",
    "max": "highest",
}  # fmt: skip
VALUES_MAX = 4
"""Values of one condition that are written out."""


def text_of(composed: Composed) -> str:
    """A query as text: what is shown, of which source, under which conditions, in which order."""
    query = composed.query
    shown = [text for place, text in enumerate(_columns(query)) if place not in composed.aside]
    parts = [f"show {', '.join(shown)} from {words_of(query['source'])}"]
    parts += _clause("where", query.get("where", ()), " and ")
    if query.get("aggregate"):
        parts += [f"for each {_group(each)}" for each in query.get("group", ())]
    parts += _clause("having", query.get("having", ()), " and ")
    parts += [f"sorted by {words_of(each['by'])} {_direction(each)}" for each in query.get("order", ())]
    if "limit" in query:
        parts.append(f"first {query['limit']}")
    return " ".join(parts)


def words_of(path: str) -> str:
    """A path or an aggregate in words: `avg(order.unit_price)` is "average order unit price"."""
    if path == "count":
        return "number"
    function, _, rest = path.partition("(")
    if rest:
        name = FUNCTIONS.get(function, function)
        return f"{name} {words_of(rest.removesuffix(')'))}"
    return " ".join(path.replace("_", " ").replace(".", " ").split())


def _columns(query: Json) -> list[str]:
    """The columns of the result, in their order."""
    if "select" in query:
        return [words_of(each) for each in query["select"]]
    aggregates = [_aggregate(each) for each in query.get("aggregate", ())]
    groups = [_group(each) for each in query.get("group", ())]
    if groups and not aggregates:
        return [f"different {each}" for each in groups]
    return [*groups, *aggregates]


def _aggregate(aggregate: str | Json) -> str:
    if isinstance(aggregate, str):
        return words_of(aggregate)
    return f"share with {_all(aggregate['where'], ' and ')}"


def _group(group: str | Json) -> str:
    if isinstance(group, str):
        return words_of(group)
    field = words_of(group["field"])
    return f"{group['period']} of {field}" if "period" in group else field


def _direction(order: Json) -> str:
    return "descending" if order.get("direction") == "desc" else "ascending"


def _clause(word: str, conditions: Sequence[Json], joint: str) -> list[str]:
    return [f"{word} {_all(conditions, joint)}"] if conditions else []


def _all(conditions: Sequence[Json], joint: str) -> str:
    return joint.join(map(_condition, conditions))


def _condition(condition: Json) -> str:
    for key, joint in (("any_of", " or "), ("all_of", " and ")):
        if key in condition:
            return _all(condition[key], joint)
    if "not" in condition:
        return f"not {_condition(condition['not'])}"
    if "exists" in condition:
        return " ".join(
            [f"with {words_of(condition['exists'])}", *_clause("where", condition.get("where", ()), " and ")]
        )
    if "words" in condition:
        return f"contains {condition['words']}"
    field = words_of(condition["field"])
    operator = condition.get("op", "=")
    values = condition.get("values", [condition["value"]] if "value" in condition else [])
    joint = " and " if operator == "between" else " or "
    return " ".join([field, OPERATORS[operator], joint.join(map(_value, values[:VALUES_MAX]))]).rstrip()


def _value(value: object) -> str:
    if isinstance(value, dict):
        if "field" in value:
            return words_of(value["field"])
        return text_of(Composed(value)).removeprefix("show ")
    return f"{value:g}" if isinstance(value, float) else str(value)
