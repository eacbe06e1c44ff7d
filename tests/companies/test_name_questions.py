"""Names in questions, and what is asked of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.reading import LIKELY, NAME_CHARACTERS_MAX, NAMES_MAX, read_names, without_names
from tools.fit.company_names import read_pairs
from tools.fit.log_linear import is_held_out

READ_RIGHT_MIN = 0.9


@given(st.text(max_size=300))
def test_any_text_is_read_into_a_few_short_names_the_whole_of_it_among_them(question: str) -> None:
    names = read_names(question)
    assert len(names) <= NAMES_MAX
    assert all(2 <= name.end - name.start <= NAME_CHARACTERS_MAX and "\n" not in name.text for name in names)
    assert len(without_names(question, names)) == len(question)


def test_names_in_questions_that_were_never_fitted_to_are_found_with_what_is_asked_of_them() -> None:
    held_out = [pair for pair in read_pairs() if is_held_out(pair[0])]
    right = 0
    for question, names in held_out:
        likely = {(name.start, name.end): name.relation for name in read_names(question) if name.chance >= LIKELY}
        right += likely.items() >= names.items() if names else not likely
    assert len(held_out) > 400
    assert right >= READ_RIGHT_MIN * len(held_out)
