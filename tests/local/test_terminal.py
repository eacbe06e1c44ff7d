import datetime
import io
import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from quarry.local.records_view import AnswerView
from quarry.local.terminal import (
    BAR_CELLS,
    MarkdownWriter,
    make_console,
    printable,
    progress_bar,
    timeline_bar,
    write_table,
)
from quarry.records.contract import (
    AnswerChunkEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    IntentEvent,
    Source,
    SourcesEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.streaming.events import Event

WIDTH = 40
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

markdown = st.lists(
    st.sampled_from(
        [
            "elm",
            "**bold**",
            "*",
            "**",
            "`",
            "`a*b`",
            "[12]",
            "[1][2].",
            "-",
            "##",
            "3.",
            " ",
            "   ",
            "\n",
            "naïve",
            "木",
        ]
    )
).map("".join)


def terminal(width: int = WIDTH) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=True, color_system="standard", width=width, highlight=False), file


def written(chunks: Sequence[str], width: int = WIDTH) -> str:
    console, file = terminal(width)
    writer = MarkdownWriter(console)
    for chunk in chunks:
        writer.feed(chunk)
    writer.finish()
    return file.getvalue()


def plain(text: str) -> str:
    return ESCAPES.sub("", text)


@settings(max_examples=60)
@given(markdown, st.lists(st.integers(0, 200)))
def test_an_answer_looks_the_same_however_it_was_cut_into_chunks(text: str, cuts: list[int]) -> None:
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    chunks = [text[start:end] for start, end in pairwise(ends)]
    assert written(chunks) == written([text])


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(["- ", "", "# ", "12. "]), st.lists(st.text("abc*`", max_size=9), max_size=30)))
)
def test_no_line_is_wider_than_the_terminal(lines: list[tuple[str, list[str]]]) -> None:
    text = "\n".join(start + " ".join(words) for start, words in lines)
    assert all(len(line) <= WIDTH for line in plain(written([text])).splitlines())


@settings(max_examples=60)
@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    for shown in (printable(text), plain(written([text]))):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


def test_words_stay_in_order_and_lists_hang() -> None:
    shown = plain(written(["# Elm\n\n- **2024**: the council keeps the old elm, supported by cables [1]\n"]))
    assert shown == "Elm\n\n• 2024: the council keeps the old elm,\n  supported by cables [1]\n\n"


def test_emphasis_and_citations_are_styled_and_the_marks_are_gone() -> None:
    assert written(["**kept** [1]"]) == "\x1b[1mkept\x1b[0m \x1b[36m[1]\x1b[0m\n"


def test_an_unclosed_star_does_not_style_the_next_line() -> None:
    assert written(["**never closed\nplain"]).endswith("\nplain\n")


def test_stars_that_are_no_marks_are_shown() -> None:
    assert plain(written(["5 * 3, and `a * b [1]`"])) == "5 * 3, and a * b [1]\n"


def test_without_a_terminal_the_markdown_itself_is_written() -> None:
    file = io.StringIO()
    writer = MarkdownWriter(Console(file=file, width=10))
    writer.feed("**bold** words that are longer ")
    writer.feed("than ten [1]")
    writer.finish()
    assert file.getvalue() == "**bold** words that are longer than ten [1]\n"


@settings(max_examples=60)
@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_bar_shows_something_and_fits(start: float, duration: float, rest: float) -> None:
    whole = start + duration + rest
    bar = timeline_bar(start, duration, whole)
    assert len(bar) <= BAR_CELLS
    assert ("█" in bar) == (whole > 0)


def test_bars_of_steps_that_follow_each_other_do_so_too() -> None:
    assert timeline_bar(0, 50, 100, cells=4) == "██"
    assert timeline_bar(50, 50, 100, cells=4) == "  ██"


def test_a_table_shows_all_of_every_row() -> None:
    for width in (30, 200):
        console, file = terminal(width)
        write_table(console, ("id", "n ", "asked"), [("a", "1", "why was the elm kept"), ("bb", "22", "how")])
        lines = plain(file.getvalue()).splitlines()
        assert lines[0].split() == ["id", "n", "asked"]
        assert all(len(line) <= width for line in lines)
        assert "why was the elm kept" in " ".join(plain(file.getvalue()).split())
        assert lines[-1].split() == ["bb", "22", "how"]


def test_markup_in_a_cell_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(make_console(), ("a", "b"), [("[red]x[/red]", ":smile:")])
    assert capsys.readouterr().out.splitlines()[1].split() == ["[red]x[/red]", ":smile:"]


def test_a_progress_bar_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("loading", 10) as bar:
        for _ in range(10):
            bar.advance(1)
    assert capsys.readouterr().err == ""


def events() -> list[Event]:
    source = Source(
        n=1, type="motion", id="m-1", title="Keep\x1b[2J the elm", snippet="", date=datetime.date(2024, 2, 13)
    )
    return [
        IntentEvent(intent="question"),
        ToolCallEvent(id="search_1", tool="search_records", arguments={"query": "elm"}),
        ToolObservationEvent(id="search_1", tool="search_records", count=1, summary="1 record found; kept [1]"),
        SourcesEvent(sources=[source, source.model_copy(update={"n": 10, "date": None, "type": "matter"})]),
        AnswerChunkEvent(chunk="It was "),
        AnswerChunkEvent(chunk="kept [1]."),
        ConfidenceEvent(level="low", source_count=1, label="Low confidence, based on 1 source"),
        FollowupsEvent(questions=["Who moved it?", "When?"]),
        DoneEvent(answer_id="abc", cached=False, topic_changed=False, degraded=["records_answer"]),
    ]


def test_an_answer_is_shown_with_its_research_sources_confidence_followups_and_link() -> None:
    file = io.StringIO()
    view = AnswerView(Console(file=file, width=200, highlight=False, markup=False, emoji=False))
    for event in events():
        view.show(event)
    shown = "\n".join(line.rstrip() for line in file.getvalue().splitlines())
    assert (
        shown
        == """\
search records: query: elm
  1 record found; kept [1]

It was kept [1].

Sources
 [1] motion · 2024-02-13 Keep[2J the elm
[10] matter              Keep[2J the elm

Low confidence, based on 1 source

Ask next
• Who moved it?
• When?

Degraded: records_answer
http://127.0.0.1:8080/search?id=abc  (with `quarry serve`)"""
    )


def test_an_answer_that_is_not_kept_has_no_link() -> None:
    file = io.StringIO()
    view = AnswerView(Console(file=file, width=200))
    view.show(DoneEvent(answer_id=None, cached=False, topic_changed=False, degraded=[]))
    assert "not kept" in file.getvalue()
    assert "http" not in file.getvalue()


def test_no_color_turns_colours_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def written() -> str:
        console = make_console()
        with console.capture() as said:
            console.print("[1]", style="cyan")
        return said.get()

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert written() == "\x1b[36m[1]\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert written() == "[1]\n"
