"""What a question rules out, and what it leaves open, by its triggers."""

from __future__ import annotations

from collections.abc import Iterator

from quarry.spans.clauses import (
    BACKWARD,
    FORWARD,
    SCOPE_UNITS_MAX,
    TRIGGERS,
    Clauses,
    item_before,
    touch,
)
from quarry.spans.scope import leads_to_verb, scope_after


def read_negations(clauses: Clauses) -> None:
    for place in range(len(clauses.units)):
        if _has_minus(clauses, place):
            clauses.negate(place, place)
        elif _is_doubled(clauses, place):
            continue
        elif (cue := clauses.cue(place)) in FORWARD:
            _rule_out_after(clauses, place)
        elif cue in BACKWARD:
            _rule_out_before(clauses, place)
        elif cue in ("uncertain", "former"):
            clauses.doubt(_item_after(clauses, place))
        elif cue == "negative":
            clauses.doubt_clause(clauses.clause_starts[place], place)
    for place in range(len(clauses.units)):
        if clauses.cue(place) == "irrelevant_before":
            _leave_open(clauses, place)


def _has_minus(clauses: Clauses, place: int) -> bool:
    """ "-crypto", as in a search box."""
    start = clauses.units[place].start
    if not clauses.is_content(place) or start == 0 or clauses.text[start - 1] != "-":
        return False
    return start == 1 or clauses.text[start - 2].isspace()


def _is_doubled(clauses: Clauses, place: int) -> bool:
    """Whether a "not" stands right before another one, or right behind it: "not without"."""
    if clauses.cue(place) not in FORWARD or clauses.words(place) in ("nor", "neither"):
        return False
    touches_next = place + 1 < len(clauses.units) and clauses.breaks[place + 1] == "none"
    both = {clauses.words(place), clauses.words(place + 1) if touches_next else ""}
    opens = touches_next and clauses.cue(place + 1) in FORWARD and not both & {"nor", "neither"}
    follows = place > 0 and clauses.breaks[place] == "none" and clauses.cue(place - 1) in FORWARD
    return opens or (follows and clauses.words(place - 1) not in ("nor", "neither"))


def _rule_out_after(clauses: Clauses, trigger: int) -> None:
    cue = clauses.cue(trigger)
    scope = list(_item_after(clauses, trigger)) if cue == "negates_one" else scope_after(clauses, trigger)
    values = [place for place in scope if clauses.is_value(place)]
    if cue == "negates_values":
        scope = values
    if leads_to_verb(clauses, trigger) and values:
        # "never served in the army": the verb belongs to what is ruled out
        for place in scope:
            if place < values[0]:
                clauses.assertions[place] = "doubtful"
        scope = values
    for place in scope:
        clauses.negate(place, trigger)
    if not values and cue not in ("negates_values", "negates_one"):
        # "without experience in Berlin", or a "not" that reaches nothing: what else the clause mentions may be ruled out too
        first = trigger + 1 if scope else clauses.clause_starts[trigger]
        clauses.doubt_clause(first, trigger, only_names=bool(scope))


def _item_after(clauses: Clauses, trigger: int) -> Iterator[int]:
    """The first mention behind `trigger`, and those that are joined to it by "or"."""
    joined = True
    for place in range(trigger + 1, min(trigger + 1 + SCOPE_UNITS_MAX, len(clauses.units))):
        if clauses.breaks[place] == "hard":
            return
        if clauses.is_content(place):
            if not joined:
                return
            yield place
            joined = False
            if clauses.cue(trigger) == "negates_one":
                return
        elif clauses.cue(place) == "or":
            joined = True
        elif clauses.cue(place) in ("ends", *TRIGGERS) or not joined:
            return


def _rule_out_before(clauses: Clauses, trigger: int) -> None:
    """ "… need not apply", "sugar-free": what stands before, with its list."""
    if clauses.cue(trigger) == "negates_one_before":
        if trigger and clauses.is_content(trigger - 1) and _is_lacked(clauses, trigger - 1, trigger):
            clauses.negate(trigger - 1, trigger)
        return
    scope = item_before(clauses, trigger)
    for place in scope:
        clauses.negate(place, trigger)
    first = min(scope, default=trigger)
    clauses.doubt(range(max(clauses.clause_starts[trigger], first - SCOPE_UNITS_MAX), first))


def _is_lacked(clauses: Clauses, item: int, trigger: int) -> bool:
    """Whether "free" says that a thing lacks the item ("sugar-free", "garlic free soup", "is garlic free"), and not that somebody
    pays nothing ("where kids travel free").
    """
    if not touch(clauses, item, trigger):
        return False
    describes = trigger + 1 < len(clauses.units) and touch(clauses, trigger, trigger + 1)
    if clauses.text[clauses.units[item].end] == "-":
        return True
    if describes and (clauses.is_content(trigger + 1) or clauses.cue(trigger + 1) == "noun"):
        return True
    follows_doer = item > 0 and clauses.is_content(item - 1) and touch(clauses, item - 1, item)
    return not follows_doer and not (item > 0 and clauses.words(item - 1) in _BEFORE_VERBS)


_BEFORE_VERBS = frozenset("can may will to that who which".split())


def _leave_open(clauses: Clauses, cue: int) -> None:
    """ "No experience needed", "whether X or Y doesn't matter": what stands before is neither required nor ruled out.

    "Experience needed" alone insists on it.
    """
    scope = item_before(clauses, cue)
    if not scope:
        return
    is_plain = clauses.words(cue) in ("needed", "required", "necessary")
    for place in scope:
        if not is_plain or clauses.assertions[place] == "negated":
            clauses.assertions[place] = "doubtful"
        elif clauses.assertions[place] == "affirmed":
            clauses.assertions[place] = "required"
