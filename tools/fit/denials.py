"""Fits what a question denies: `python -m tools.fit.denials [SPIDER]`.

Reads tests/pairs/denials.jsonl, where values are marked as `[Lisbon|denied]` or `[Porto|said]`, and what people.jsonl excludes or
asks for. With SPIDER, a folder of questions with their statements (`tools.fit`), also the values that these compare. A fifth of
the questions, by checksum, is held out.
"""

from __future__ import annotations

import datetime
import math
import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from quarry.language.recognition import Weights, packed_weights
from quarry.language.word_forms import STOP_WORDS, keys, tokenise
from quarry.reader.denials import CHOICES, TELLING, WEIGHTS_FILE, Run, chances_denied, evidence_of
from quarry.spans.dates import find_dates
from quarry.spans.money import find_money
from quarry.spans.numbers import find_numbers
from tools.fit.log_linear import Example, fitted, is_held_out, marked_texts, unmarked
from tools.fit.pairs import own_pairs, part_of, spider_pairs

TODAY = datetime.date(2026, 1, 1)
ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "tests/pairs"
WEIGHTS = ROOT / "layers/quarry/quarry/reader/weights"
ROUNDS = 12
OFTEN, ODDS_MIN = 5, 0.7
"""How often a word must occur, and by which logarithm it must change the odds, to tell something."""
TIMES = 8
"""How many times the questions of denials.jsonl count: the others are many, and of few forms."""
SILENT = ("text", "not", "ignore", "never", "only", "both", "prefer")
"""The parts of people.jsonl that ask for nothing."""
_LITERAL = re.compile(
    r"(?P<not>!=|<>|is\s+distinct\s+from|not\s+like|not\s+ilike|not\s+in\s*\()?\s*'(?P<text>(?:[^']|'')+)'|(?P<except>\bexcept\b|\bnot\s+(?:in|exists)\s*\(\s*select)",
    re.IGNORECASE,
)

Marked = tuple[str, dict[Run, bool]]
"""A question, and whether it denies each run of words."""


def _placed(text: str, marks: Sequence[tuple[int, int, bool]]) -> Marked:
    """A question with marks by characters, as marks by words. Times and amounts reach as far as the reader takes them to."""
    tokens = tokenise(text)
    read = [*find_dates(text, tokens, TODAY), *find_money(text, tokens), *find_numbers(text, tokens)]
    found: dict[Run, bool] = {}
    for start, end, is_denied in marks:
        for each in read:
            if each.start < end and start < each.end:
                start, end = min(start, each.start), max(end, each.end)
        inside = [place for place, each in enumerate(tokens) if each.start < end and start < each.end]
        if inside:
            found[inside[0], inside[-1] + 1] = is_denied
    return text, found


def of_marks(path: Path) -> Iterator[Marked]:
    """The questions of a file with marks, of `said` and `denied` or of the parts of a query for people."""
    for marked in marked_texts(path):
        text, marks = unmarked(marked)
        said = [(start, end, names[-1].rpartition(".")[2]) for start, end, names in marks]
        yield _placed(
            text, [(start, end, part in ("denied", "exclude")) for start, end, part in said if part not in SILENT]
        )


def of_statements(spider: Path | None) -> Iterator[Marked]:
    """The questions whose statements compare with texts that they say, apart from those of databases that are held out."""
    for pair in (*own_pairs(PAIRS), *(spider_pairs(spider) if spider else ())):
        if pair.sql and part_of(pair) != "held out":
            found = _placed(pair.question, [*_compared(pair.question, pair.sql)])
            if found[1]:
                yield found


def _compared(question: str, sql: str) -> Iterator[tuple[int, int, bool]]:
    """The characters of the texts that a statement compares with, and whether it denies them."""
    is_within = False
    for match in _LITERAL.finditer(sql):
        is_within = is_within or bool(match["except"])
        said = re.search(re.escape(match["text"].strip("%")), question, re.IGNORECASE) if match["text"] else None
        if said and keys(said[0]):
            yield said.start(), said.end(), is_within or bool(match["not"])


def telling_words(pairs: Sequence[Marked]) -> dict[str, float]:
    """The words whose presence before what is said changes the odds that it is denied, and stop words."""
    seen = {False: Counter[str](), True: Counter[str]()}
    for text, runs in pairs:
        tokens, since = tokenise(text), 0
        for (first, last), is_denied in sorted(runs.items()):
            seen[is_denied].update({each.key for each in tokens[since:first]})
            since = last
    share = (seen[True].total() + 1) / (seen[False].total() + 1)
    odds = {
        word: math.log((seen[True][word] + 1) / (seen[False][word] + 1) / share) for word in (*seen[True], *seen[False])
    }
    often = {word for word in odds if seen[True][word] + seen[False][word] >= OFTEN}
    return {
        word: round(each, 2)
        for word, each in odds.items()
        if word in STOP_WORDS or (word in often and abs(each) >= ODDS_MIN)
    }


def _examples(pairs: Sequence[Marked], telling: Container[str]) -> Iterator[Example[str]]:
    for text, runs in pairs:
        tokens, before = tokenise(text), None
        for run in sorted(runs):
            is_denied = before is not None and runs[before]
            yield evidence_of(tokens, run, before, telling, is_denied=is_denied), CHOICES, int(runs[run])
            before = run


def judged(pairs: Sequence[Marked], weights: Weights) -> Iterator[tuple[str, str, bool, float]]:
    """Each run of words with its question, whether it is denied, and the probability of that."""
    for text, runs in pairs:
        tokens = tokenise(text)
        for run, chance in chances_denied(tokens, [*runs], weights).items():
            yield text, text[tokens[run[0]].start : tokens[run[1] - 1].end], runs[run], chance


def main() -> None:
    """Fits, prints how many values of held-out questions are read right, and writes the weights."""
    spider = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sets = {
        "denials": [*of_marks(PAIRS / "denials.jsonl")],
        "people": [*of_marks(PAIRS / "people.jsonl")],
        "statements": [*of_statements(spider)],
    }
    fitted_to = {name: [pair for pair in pairs if not is_held_out(pair[0])] for name, pairs in sets.items()}
    telling = telling_words([*fitted_to["denials"], *fitted_to["people"]])
    pairs = [*fitted_to["denials"] * TIMES, *fitted_to["people"], *fitted_to["statements"]]
    weights = {**fitted([*_examples(pairs, telling)], lambda choice: (choice,), ROUNDS), TELLING: telling}
    for name, pairs in sets.items():
        read = [*judged([pair for pair in pairs if is_held_out(pair[0])], weights)]
        for is_denied in (False, True):
            chances = [chance for *_, each, chance in read if each == is_denied]
            right = sum((chance >= 1 / 2) == is_denied for chance in chances)
            print(f"{name}, {CHOICES[is_denied]}: {right} of {len(chances)} held-out values read right")
    size = (WEIGHTS / WEIGHTS_FILE).write_bytes(packed_weights(weights))
    print(f"{sum(map(len, weights.values())):,} weights, {size:,} bytes")


if __name__ == "__main__":
    main()
