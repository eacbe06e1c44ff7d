"""Makes how a question was understood of a Query, what stands beside it and the evidence; and finds the evidence in it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from quarry.platform.contract import EVIDENCE_MAX, Assertion, Evidence
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.query.algebra import AnyOf, Comparison, Condition, Not, Query, Span, Words, conditions_of
from quarry.query.contract import CONDITIONS_MAX
from quarry.query.describe import how_read
from quarry.query.phrases import Phrases
from quarry.query.understood import CHANGEABLE, LABEL_MAX, ConditionChip, Meaning, Understood, UnderstoodEvent
from quarry.streaming.events import Event


def understood(
    query: Query,
    phrases: Phrases,
    *,
    assumed: Sequence[Condition] = (),
    preferred: Sequence[Condition] = (),
    about: str = "",
    unread: Iterable[str] = (),
    evidence: Iterable[Evidence] = (),
    choices: Sequence[Meaning] = CHANGEABLE,
) -> Understood:
    """A query and what stands beside it as one value, each condition labelled and with its evidence. Parts that are too many are
    left out.
    """
    made = Understood(
        sentence=how_read(query, phrases.schema, phrases.today),
        query=query,
        assumed=tuple(assumed[:CONDITIONS_MAX]),
        preferred=tuple(preferred[:CONDITIONS_MAX]),
        # what follows up several questions may be longer than a question
        about=about[:QUERY_MAX_CHARACTERS].strip(),
        unread=list(unread),
    )
    chips = [_chip(pointer, each, phrases.condition, choices) for pointer, each in made.conditions]
    chips += [
        ConditionChip(label=phrases.condition(each), pointer=f"/having/{place}")
        for place, each in enumerate(query.having)
    ]
    texts = (("/text", query.text), ("/about", made.about))
    chips += [ConditionChip(label=text, pointer=pointer) for pointer, text in texts if text]
    spans = query.spans or spans_of(made.conditions, evidence)
    return made.model_copy(update={"chips": chips, "spans": list(spans)[:EVIDENCE_MAX]})


def ending(answer: Event, read: Understood | None) -> Iterator[Event]:
    """The last events of an answer: how its question was understood, and the whole of it."""
    if read is not None:
        yield UnderstoodEvent(data=read)
    yield answer


def affirmed(condition: Condition) -> tuple[Condition, bool]:
    """The condition without its negation, and whether it had one."""
    if isinstance(condition, Not):
        return condition.negated, True
    if isinstance(condition, Comparison) and condition.op in ("!=", "is_null"):
        return condition.model_copy(update={"op": "=" if condition.op == "!=" else "not_null"}), True
    return condition, False


def _chip(
    pointer: str, condition: Condition, label: Callable[[Condition], str], choices: Sequence[Meaning]
) -> ConditionChip:
    """The chip of a condition. What is excluded is labelled as what it excludes: its place says that it is."""
    inner, _ = affirmed(condition)
    own: list[Meaning] = ["assumed"] if pointer.startswith("/assumed") else []
    named = {text for leaf in leaves(inner) for text in _texts(leaf)}
    first = next(leaves(inner), None)
    # the same said of several fields
    is_one = isinstance(inner, AnyOf) and len(named) == 1 and first is not None
    text = str(first.scalars[0]) if is_one and first is not None else label(inner)
    return ConditionChip(label=text[:LABEL_MAX], pointer=pointer, choices=[*own, *choices] if choices else [])


def spans_of(conditions: Iterable[tuple[str, Condition]], evidence: Iterable[Evidence]) -> Iterator[Span]:
    """The evidence as pieces of a question that say a condition: the one on its field with its value, else the first on it."""
    compared = [(pointer, leaf) for pointer, each in conditions for leaf in leaves(each)]
    for each in evidence:
        on_field = [(pointer, leaf) for pointer, leaf in compared if leaf.field == each.field]
        exact = (pointer for pointer, leaf in on_field if each.value.casefold() in _texts(leaf))
        pointer = next(exact, on_field[0][0] if on_field else None)
        if pointer is not None:
            yield Span(pointer=pointer, start=each.start, end=each.end)


def evidence_of(read: Understood) -> list[Evidence]:
    """The spans as evidence for the field and the value of the condition that each points to."""
    by_pointer = dict(read.conditions)
    found = []
    for span in read.spans:
        condition = by_pointer.get("/".join(span.pointer.split("/")[:3]))
        leaf = next(leaves(condition), None) if condition is not None else None
        if condition is not None and leaf is not None:
            preferred: Assertion = "preferred" if span.pointer.startswith("/preferred") else "affirmed"
            assertion: Assertion = "negated" if affirmed(condition)[1] else preferred
            value = str(leaf.scalars[0]) if leaf.scalars else ""
            found.append(Evidence(field=leaf.field, value=value, start=span.start, end=span.end, assertion=assertion))
    return found


def leaves(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition."""
    if isinstance(condition, Comparison):
        yield condition
    for each in conditions_of(condition):
        yield from leaves(each)


def excluded_words(conditions: Iterable[Condition]) -> list[str]:
    """The words that conditions exclude."""
    return [each.negated.words for each in conditions if isinstance(each, Not) and isinstance(each.negated, Words)]


def _texts(comparison: Comparison) -> set[str]:
    return {str(each).casefold() for each in comparison.scalars}
