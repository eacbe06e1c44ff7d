"""Addresses that stand in no cited source never become links."""

from __future__ import annotations

import re

import pytest

from quarry.platform.text import LinkFilter

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
        ("![p](//evil.example/p.png?q=secret)", r"\![p]\(//evil.example/p.png?q=secret)"),
        ("[a](\n https://evil.example 'x')", "[a]\\(\n `https://evil.example` 'x')"),
        ("[a](<https://evil.example>)", r"[a]\(<`https://evil.example`>)"),
        ("[a](javascript:alert(1))", r"[a]\(javascript:alert(1))"),
        ("[a](https\\://evil.example)", "[a]\\(https\\://evil.example)"),
        ("[a](/\\evil.example)", "[a]\\(/\\evil.example)"),
        ("[x]: https://evil.example\n[x][x]", "[x]\\: `https://evil.example`\n[x][x]"),
        ("<https://evil.example>", r"\<`https://evil.example`>"),
        ('<a href="https://evil.example">x</a>', r'\<a href="`https://evil.example`">x\</a>'),
        ("a<script>x</script> <style>", r"a\<script>x\</script> \<style>"),
        ("<!-- x --> <?php list<int>", r"\<!-- x --> \<?php list\<int>"),
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


def test_no_image_stays_one_even_from_a_cited_source() -> None:
    assert passed(f"![the report]({PAGE}) [1]") == rf"\![the report]({PAGE}) [1]"


@pytest.mark.parametrize(
    "text",
    [
        f"[1] says {PAGE}.",
        f"See {PAGE} [1].",
        f"See [the report]({PAGE})[1] and <{PAGE}>.",
        f"[1]: {PAGE}",
        "Write to desk@city.example [1], or http://www.park.example/ [2]",
        "a[i](x), a < b, 3 <5, x: y, Great![1], [1]: text, [top](#top), `code`, e.g. this, 12:30",
    ],
)
def test_what_a_cited_source_has_and_what_is_no_address_stays(text: str) -> None:
    for piece in (1, 5, 10_000):
        assert passed(text, piece) == text
