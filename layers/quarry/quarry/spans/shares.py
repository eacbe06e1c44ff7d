"""Which of a question's conditions a share is of, and which say what the others are counted for."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.spans.mention import Cue, Mention, ParsedQuery
from quarry.spans.question import Clause

_VERBS = frozenset("is are was were been be being have has had cost do does did make makes made".split())


def said_of_rows(parsed: ParsedQuery, clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses that stand behind the verb which rows are the subject of ("what share of loans from Ay are late"), or, without
    one, behind what rows are called ("percentage of loans that came late"): what is said of them, beside which of them are meant.
    """
    verb = next((each.start for each in parsed.mentions if _is_verb(parsed, each)), None)
    if verb is None:
        verb = next((each.end for each in parsed.mentions if each.value == Cue("noun")), len(parsed.text))
    return [
        clause
        for clause in clauses
        if any(said.evidence for said in clause)
        and all(each.start >= verb for said in clause for each in said.evidence)
    ]


def _is_verb(parsed: ParsedQuery, mention: Mention) -> bool:
    return isinstance(mention.value, Cue) and parsed.said(mention).lower().split()[-1] in _VERBS
