"""The second stage: candidates in words, and how well the embedding model with adapters finds that they fit the question."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import numpy as np
import pytest

from quarry.agent.reading import explanation_of
from quarry.models.local_embedding import LINEAR_LAYERS, MiniLM, installed_weights, read_safetensors
from quarry.reader.candidates import text_of
from quarry.reader.compose import Composed, Json
from quarry.reader.learned import (
    CANDIDATE_PIECES_MAX,
    QUESTION_PIECES_MAX,
    PairModel,
    encoded_pair,
    first_text,
    learned,
    pair_model,
)
from quarry.reader.reading import Reading, read_question
from tests.query.desk_schema import DESK

TODAY = datetime.date(2026, 7, 1)
TEXTS = ["show number from tickets", "show title, status from tickets where status is Open", "show number from teams"]


class Preferring(PairModel):
    """A pair model that finds that only texts with these words fit."""

    def __init__(self, words: str) -> None:
        self._words = words

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [8.0 if self._words in text else -8.0 for text in texts]


def read(question: str, pairs: PairModel | None = None, before: Reading | None = None) -> Reading:
    return read_question(question, DESK, [], TODAY, learned(), before, pairs)


@pytest.fixture(scope="module")
def model() -> PairModel:
    found = pair_model()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("query", "aside", "text"),
    [
        ({"source": "orders", "aggregate": ["count"]}, (), "show number from orders"),
        (
            {"source": "orders", "select": ["customer.name"], "where": [{"field": "unit_price", "op": ">=", "value": 5.0}]},
            (), "show customer name from orders where unit price at least 5",
        ),
        (
            {"source": "orders", "group": [{"field": "placed_on", "period": "month"}], "aggregate": ["sum(total)"]},
            (), "show month of placed on, total total from orders for each month of placed on",
        ),
        (
            {"source": "shop", "select": ["name", "count(orders)"], "limit": 1,
             "order": [{"by": "count(orders)", "direction": "desc"}]},
            (1,), "show name from shop sorted by number of orders descending first 1",
        ),
        (
            {"source": "shop", "group": ["city"], "where": [{"not": {"exists": "orders", "where": [
                {"any_of": [{"field": "state", "values": ["new", "late"]}, {"field": "paid_on", "op": "is_null"}]}]}}]},
            (), "show different city from shop where not with orders where state is new or late or paid on is missing",
        ),
    ],
)  # fmt: skip
def test_a_query_is_put_into_words_without_columns_that_only_say_why(
    query: Json, aside: tuple[int, ...], text: str
) -> None:
    assert text_of(Composed(query, aside)) == text


def test_adapters_that_add_nothing_leave_the_vectors_as_they_are(nothing_kept_of_texts: None) -> None:
    folder = installed_weights()
    tensors = read_safetensors(folder / "model.safetensors")
    shapes = {name: tensors[f"{name}.weight"].shape for name in LINEAR_LAYERS}
    nothing = {f"{name}.b": np.zeros((out, 2), np.float32) for name, (out, _) in shapes.items()}
    adapters = nothing | {f"{name}.a": np.ones((2, width), np.float32) for name, (_, width) in shapes.items()}
    text = "Why did the council keep the elm?"
    plain = MiniLM.from_folder(folder).embed(text)
    assert MiniLM.with_adapters(folder, adapters).embed(text) == plain
    changed = adapters | {f"{LINEAR_LAYERS[0]}.b": nothing[f"{LINEAR_LAYERS[0]}.b"] + 1}
    assert MiniLM.with_adapters(folder, changed).embed(text) != plain


@pytest.mark.usefixtures("nothing_kept_of_texts")
def test_the_score_of_a_candidate_does_not_depend_on_those_it_is_read_with(model: PairModel) -> None:
    question = "how many tickets are there?"
    together = model.scores(question, TEXTS)
    assert together == pytest.approx([model.scores(question, [text])[0] for text in TEXTS], abs=1e-3)
    assert together == pytest.approx(model.scores(question, TEXTS[::-1])[::-1], abs=1e-3)


@pytest.mark.usefixtures("nothing_kept_of_texts")
def test_what_answers_scores_higher_than_what_does_not(model: PairModel) -> None:
    for question, wanted in (("how many tickets are there?", 0), ("which teams are there? count them", 2)):
        scores = model.scores(question, TEXTS)
        assert scores.index(max(scores)) == wanted


def test_of_a_long_question_the_end_is_read() -> None:
    pieces, second = encoded_pair([101, *range(200, 400), 102], [101, *range(500, 600), 102])
    assert (pieces[0], pieces[second - 1], second) == (101, 102, 1 + QUESTION_PIECES_MAX)
    assert pieces[-1] == 102
    assert len(pieces) == 1 + QUESTION_PIECES_MAX + CANDIDATE_PIECES_MAX


def test_the_pair_model_decides_between_candidates() -> None:
    alone = read("number of tickets of teams").query
    assert alone is not None
    for words in ("show number from tickets", "show number from teams"):
        reading = read("number of tickets of teams", Preferring(words))
        assert reading.query is not None
        assert text_of(reading.best[0][0].composed).startswith(words)
        assert reading.pair_scores[0] == 8.0


def test_where_no_candidate_fits_nothing_is_likely() -> None:
    reading = read("how many tickets are there?", Preferring("no such words"))
    assert sum(chance for _, chance in reading.best) < 0.1
    assert reading.verdict != "confident"


def test_a_follow_up_is_read_behind_the_question_that_it_goes_on_from() -> None:
    asked: list[str] = []

    class Noting(Preferring):
        def scores(self, question: str, texts: Sequence[str]) -> list[float]:
            asked.append(question)
            return super().scores(question, texts)

    pairs = Noting("number")
    read("and teams?", pairs, before=read("how many tickets are there?", pairs))
    assert asked == ["how many tickets are there?", first_text("and teams?", "how many tickets are there?")]


def test_an_explanation_shows_the_scores_of_both_stages() -> None:
    both = explanation_of(read("how many tickets are there?", Preferring("number"))).queries[0]
    assert both.pair_score is not None
    assert explanation_of(read("how many tickets are there?")).queries[0].pair_score is None
