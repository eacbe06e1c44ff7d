"""What holds of every question, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.spans.mention import Known
from quarry.spans.question import Question
from tests.linear.measuring import assert_linear, repeated
from tests.query.tables import BOOKS, BUILDINGS, RECIPES, Filled, asked, read

_WORDS = """
how many which what show list count most common first latest by per year not no without except but only must preferably or and
nor neither with in from at the a of those them ones second than more 3 2010 1990s since before between recipes buildings books
garlic onion soup Thai vegan spicy Ada Brook Gothic museum Lyon Ghent Lina Moro Welsh crime Saltmarsh pages floors tall cuisine
architect style , . ? ( ) " - ; need apply excluded hate dragons Zelda running shoes never worked like similar to
""".split()
_TEXTS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=16).map(" ".join)
_TABLES = st.sampled_from([RECIPES, BUILDINGS, BOOKS])
_NEGATIONS = st.sampled_from(
    ["not", "no", "without", "except", "excluding", "never", "anything but", "but not", "other than"]
)
_HEADS = st.sampled_from(
    ["", "recipes ", "dishes with butter, ", "how many recipes are ", "show me the ", "spicy ones "]
)


@given(text=st.one_of(_TEXTS, st.text(max_size=200)), filled=_TABLES)
def test_each_word_is_in_one_mention_and_no_two_overlap(text: str, filled: Filled) -> None:
    parsed = read(text, filled)
    ends = 0
    for mention in parsed.mentions:
        assert ends <= mention.start < mention.end <= len(text)
        ends = mention.end
    for token in parsed.tokens:
        assert sum(mention.start < token.end and token.start < mention.end for mention in parsed.mentions) == 1


@given(text=st.one_of(_TEXTS, st.text(max_size=200)), filled=_TABLES, earlier=st.lists(_TEXTS, max_size=2))
def test_what_is_ruled_out_is_in_no_positive_condition_and_in_no_topic(
    text: str, filled: Filled, earlier: list[str]
) -> None:
    parsed = read(text, filled)
    question = asked(text, filled)
    out = [mention for mention in parsed.mentions if mention.assertion in ("negated", "doubtful")]
    for mention in out:
        for condition in (condition for clause in question.clauses for condition in clause):
            touches = any(each.start < mention.end and mention.start < each.end for each in condition.evidence)
            zero = condition.range is not None and not condition.values
            assert not touches or condition.is_negated or zero
        if isinstance(mention.value, Known):
            # a value may stand twice in a question, and once be wanted
            wanted = [other for other in parsed.mentions if other.value == mention.value and other not in out]
            assert wanted or not _is_required(question, mention.value)
    asked(text, filled, earlier)


@given(
    head=_HEADS, negation=_NEGATIONS, value=st.sampled_from(["garlic", "Thai", "soup", "Ada Brook", "vegan", "pork"])
)
def test_a_not_before_a_value_never_leaves_it_required(head: str, negation: str, value: str) -> None:
    known = [mention.value for mention in read(value, RECIPES).mentions]
    (meant,) = known
    assert isinstance(meant, Known)
    assert not _is_required(asked(f"{head}{negation} {value}", RECIPES), meant)


def _is_required(question: Question, known: Known) -> bool:
    values = {(value.facet, value.value) for value in known.values}
    return any(
        not condition.is_negated and (condition.facet, value) in values
        for clause in question.clauses
        for condition in clause
        for value in condition.values
    )


@pytest.mark.parametrize(
    "piece",
    [
        "not ", "nor x ", "no garlic, ", "except a, b and ", "without garlic or ", "how many ", "most common ", "those ", "only ",
        "by year ", "is a must ", "need not apply ", '"a ', "A B ", "garlic and ", ", ", "- ", "x", "the first two ", "floors 3 ",
        "20 tall floors ", "hate garlic ", "running shoes ",
    ],
)  # fmt: skip
def test_reading_takes_time_linear_in_the_text(piece: str) -> None:
    def interpreted(text: str) -> object:
        return asked(text, RECIPES)

    assert_linear(interpreted, repeated(piece), 2000)
