"""How an answer's sources are listed and cited: pure."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quarry.agent.completions import Source, Sources, citations, cited_in, listing, web_address

PAGE = "https://city.example/minutes"
TEXTS = st.text(alphabet="ab [1](2)\n*é", max_size=20)
SOURCES = st.builds(
    Source, TEXTS, TEXTS, st.sampled_from([None, PAGE, "javascript:alert(1)"]), st.none() | st.integers(1, 3)
)


def test_only_what_is_cited_is_a_source() -> None:
    items = [Source("a", n=1), Source("b", n=2)]
    assert cited_in("It was kept [2], see [7].", items) == [items[1]]


def test_a_source_without_an_address_is_listed_and_not_linked() -> None:
    sources = Sources("Sources", [Source("The elm", "motion", None, 1), Source("The oak", "matter", PAGE, 2)])
    assert listing(sources) == f"\n\nSources:\n\n- [1] The elm: motion\n- [2] [The oak]({PAGE}): matter"
    assert [each.url for each in citations("Kept [1] and felled [2].", sources)] == [PAGE]


def test_what_is_named_nowhere_is_cited_where_it_is_listed() -> None:
    sources = Sources("Companies", [Source("Harbor", url=PAGE)])
    text = "Harborline is another one."
    [citation] = citations(text, sources)
    assert (text + listing(sources))[citation.start : citation.end] == f"- [Harbor]({PAGE})"


def test_a_title_makes_no_link_of_its_own() -> None:
    assert listing(Sources("Sources", [Source("[x](http://evil.example)", n=1)])).endswith(
        r"\[x\](http://evil.example)"
    )
    assert web_address("javascript:alert(1)") is None
    assert web_address("https://a.example/ onclick") is None


@given(TEXTS, st.lists(SOURCES, max_size=4))
def test_a_citation_is_of_characters_that_there_are(text: str, items: list[Source]) -> None:
    sources = Sources("Sources", items)
    whole = text + listing(sources)
    for citation in citations(text, sources):
        assert 0 <= citation.start < citation.end <= len(whole)
        assert citation.url == PAGE
