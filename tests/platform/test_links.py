"""Addresses that stand in no cited source never become links."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.platform.links import ALWAYS, LinkFilter, plain_links, said_in

PAGE = "https://city.example/a_(b)/x?y=1"
SOURCES = {1: f"The report ({PAGE}). Write to desk@city.example!", 2: "See www.park.example."}


def passed(text: str, piece: int = 10_000) -> str:
    links = LinkFilter(SOURCES)
    return "".join(links.feed(text[at : at + piece]) for at in range(0, len(text), piece)) + links.finish()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Go to https://evil.example/x?a=1. Now", "Go to `https://evil.example/x?a=1`. Now"),
        ("at www.evil.example, or", "at `www.evil.example`, or"),
        ("mail me@evil.example or mailto:me@evil.example", "mail `me@evil.example` or `mailto:me@evil.example`"),
        ("FTP://evil.example http://[::1]/x", "`FTP://evil.example` `http://[::1]/x`"),
        ("[here](https://evil.example) now", r"[here]\(`https://evil.example`) now"),
        ("![p](//evil.example/p.png?q=secret)", r"![p]\(//evil.example/p.png?q=secret)"),
        ("[a](\n https://evil.example 'x')", "[a]\\(\n `https://evil.example` 'x')"),
        ("[a](<https://evil.example>)", r"[a]\(<`https://evil.example`>)"),
        ("[a](javascript:alert(1))", r"[a]\(javascript:alert(1))"),
        ("[a](https\\://evil.example)", "[a]\\(https\\://evil.example)"),
        ("[a](/\\evil.example)", "[a]\\(/\\evil.example)"),
        ("[x]: https://evil.example\n[x][x]", "[x]\\: `https://evil.example`\n[x][x]"),
        ("<https://evil.example>", r"\<`https://evil.example`>"),
        ('<a href="https://evil.example">x</a>', r'\<a href="`https://evil.example`">x</a>'),
        ("<img/src=//evil.example>", r"\<img/src=//evil.example>"),
        # what stands before it cannot take its backticks away
        ("`https://evil.example", "` ``https://evil.example``"),
        ("a ``b ` https://evil.example", "a ``b ` ```https://evil.example```"),
        ("\\https://evil.example", "\\ `https://evil.example`"),
        ("\\<a href=x>", "\\ \\<a href=x>"),
    ],
)
def test_an_address_of_no_source_is_plain_text_however_the_text_is_cut(text: str, shown: str) -> None:
    assert passed(text) == shown
    for piece in (1, 2, 3, 7):
        # behind a word that was sent already the backticks begin later
        assert re.sub(r"(\w+)`(@|://)", r"`\1\2", passed(text, piece)) == shown


def test_entities_and_escapes_hide_no_address() -> None:
    for target in (
        "&#104;ttps://evil.example",
        "&sol;&sol;evil.example",
        "ht&Tab;tps://evil.example",
        "\\/\\/evil.example",
    ):
        assert "](" not in passed(f"[a]({target})")


@pytest.mark.parametrize(
    "text",
    [
        f"[1] says {PAGE}.",
        f"See {PAGE} [1].",
        f"See [the report]({PAGE})[1] and <{PAGE}>.",
        f"[1]: {PAGE}",
        "Write to desk@city.example [1], or http://www.park.example/ [2]",
        "a[i](x), a < b, 3 <5, list<int>, <script>x</script>, x: y, [1]: text, [top](#top), `code`, e.g. this, 12:30",
    ],
)
def test_what_a_cited_source_has_and_what_is_no_address_stays(text: str) -> None:
    for piece in (1, 5, 10_000):
        assert passed(text, piece) == text


def test_a_source_that_is_cited_elsewhere_or_not_at_all_makes_no_link() -> None:
    assert passed(f"See {PAGE} [2].") == f"See `{PAGE}` [2]."
    assert passed(f"See {PAGE}.\nSo says [1].") == f"See `{PAGE}`.\nSo says [1]."
    assert passed(f"[1] says {PAGE}/other") == f"[1] says `{PAGE}/other`"
    assert LinkFilter({ALWAYS: PAGE}).feed(f"See {PAGE} here") == f"See {PAGE} here"


def test_text_without_addresses_leaves_as_it_comes() -> None:
    links = LinkFilter(SOURCES)
    pieces = ["The ol", "d elm", " stands", ". In 20", "24 it"]
    assert [links.feed(piece) for piece in pieces] == pieces
    assert [links.feed(piece) for piece in (" ht", "tp", "://evil.example", " x")] == [
        "",
        "",
        "",
        " `http://evil.example` x",
    ]


def test_what_follows_a_word_that_was_sent_is_looked_at_with_it() -> None:
    links = LinkFilter(SOURCES)
    sent = [
        links.feed(piece) for piece in ("[1] desk", "@city", ".example me", "@evil.example gopher", "://evil.example ")
    ]
    assert sent == ["[1] desk", "", "@city.example me", "`@evil.example` gopher", "`://evil.example` "]


@given(
    st.text(alphabet="ab `\\\n[](<>):/.1", max_size=40),
    st.text(alphabet="`\\ \n[]()<>b", max_size=20),
    st.integers(1, 9),
)
def test_an_address_among_any_markup_stands_between_backticks_of_its_own(before: str, behind: str, piece: int) -> None:
    shown = passed(f"{before} https://evil.example {behind}", piece)
    assert shown == passed(f"{before} https://evil.example {behind}")
    [ticks] = re.findall(r"(`+)https://evil\.example\1(?!`)", shown)
    # no run of that length stands before it, which could close or open it
    earlier = shown[: shown.index(f"{ticks}https://evil")]
    assert len(ticks) not in {len(run) for run in re.findall("`+", earlier)}


def test_a_long_word_is_looked_at_in_linear_time() -> None:
    links = LinkFilter(SOURCES)
    text = "https://" + "x" * 100_000 + "](" * 10_000 + "<a" * 10_000
    assert len("".join(links.feed(text[at : at + 100]) for at in range(0, len(text), 100))) >= 100_000


def test_all_texts_of_data_are_a_source() -> None:
    company = {"name": "A", "urls": ["https://a.example", {"x": "https://b.example"}], "year": 1999}
    assert plain_links("https://a.example https://b.example https://c.example", said_in(company)) == (
        "https://a.example https://b.example `https://c.example`"
    )
