"""Output for people: styled and wrapped on a terminal, the same words as plain text elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, ProgressColumn, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from quarry.local.output import Format, write_csv, write_json
from quarry.platform.text import marked_parts, visible

BAR_CELLS = 16
PLAIN_CELLS = 10_000
PROGRESS_STEPS = 200
"""How often a progress bar is updated at most: an update for every row would cost more than the row."""
UNKNOWN_TOTAL_STEP = 1 << 16

CITATION_STYLE = "cyan"

# Texts come from files and models: their control characters must not reach the terminal.
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
_PIECE = re.compile(r"\n|[^\S\n]+|\S+")
_INLINE = re.compile(r"(\*\*|\*|`|\[\d+\])")
_MARK_STYLES = {"**": "bold", "*": "italic", "`": "bold"}
_HEADINGS = frozenset("#" * depth for depth in range(1, 7))


def make_console(*, stderr: bool = False) -> Console:
    """A console without markup in its texts. Without a terminal it neither wraps nor cuts lines."""
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.soft_wrap = True
        console.width = PLAIN_CELLS
    return console


def printable(text: str) -> str:
    """`text` without invisible and control characters, except new lines and tabs."""
    return visible(text).translate(_CONTROLS)


def conditions_line(meets: Sequence[str], misses: Sequence[str]) -> Text:
    """The conditions that a result meets and misses, on one line; empty if there are none."""
    met = [Text(f"✓ {printable(label)}", "green") for label in meets]
    return Text("  ").join([*met, *(Text(f"✗ {printable(label)}", "yellow") for label in misses)])


def snippet_text(snippet: str) -> Text:
    """A snippet on one line, the matched words in bold."""
    parts = ((" ".join(printable(part).split("\n")), "bold" if hit else "") for part, hit in marked_parts(snippet))
    return Text.assemble(*parts)


class MarkdownWriter:
    """Writes Markdown as it comes, word by word: bold, emphasis, code, headings, lists, `[1]` citations in colour.

    Without a terminal the Markdown itself is written.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._held = ""
        self._column = 0
        self._indent = 0
        self._space = 0
        self._line_started = False
        self._heading = False
        self._styles: dict[str, str] = {}

    def feed(self, chunk: str) -> None:
        """Write the complete words so far; the last one may still grow."""
        if not self._console.is_terminal:
            self._out(printable(chunk))
            return
        pieces = _PIECE.findall(self._held + printable(chunk))
        self._held = pieces.pop() if pieces else ""
        self._write_all(pieces)

    def finish(self) -> None:
        """Write the rest and end the line."""
        self._write_all([self._held] if self._held else [])
        self._held = ""
        self._out("\n")

    def _write_all(self, pieces: Iterable[str]) -> None:
        for piece in pieces:
            if piece == "\n":
                self._end_line()
            elif piece.isspace():
                self._space = len(piece.expandtabs(4))
            elif self._line_started or not self._start_line(piece):
                self._write_word(piece)

    def _end_line(self) -> None:
        self._out("\n")
        self._column = self._indent = self._space = 0
        self._line_started = self._heading = False
        # emphasis does not outlive its line: an unclosed star must not colour the rest of the answer
        self._styles.clear()

    def _start_line(self, word: str) -> bool:
        """Begin a line; whether `word` was only the mark of a heading or list."""
        self._line_started = True
        depth, self._space = min(self._space, self._console.width // 2), 0
        if word in _HEADINGS:
            self._heading = True
            return True
        is_number = len(word) <= 4 and word[:-1].isdecimal() and word[-1] in ".)"
        item = "•" if word in ("-", "*", "+") else word if is_number else None
        self._write(" " * depth)
        self._indent = depth
        if item is None:
            return False
        self._write(item)
        self._indent += cell_len(item) + 1
        self._space = 1
        return True

    def _write_word(self, word: str) -> None:
        parts = [(word, self._style())] if word in ("*", "**") else list(self._styled(word))
        width = sum(cell_len(text) for text, _ in parts)
        if self._column > self._indent and self._column + self._space + width > self._console.width:
            self._out("\n" + " " * self._indent)
            self._column = self._indent
        elif self._column:
            self._write(" " * self._space)
        self._space = 0
        for text, style in parts:
            self._write(text, style)

    def _styled(self, word: str) -> Iterator[tuple[str, str]]:
        """The parts of a word with their styles; marks switch styles and are not shown."""
        for part in _INLINE.split(word):
            code = "`" in self._styles
            if part == "`" or (part in ("**", "*") and not code):
                if self._styles.pop(part, None) is None:
                    self._styles[part] = _MARK_STYLES[part]
            elif part:
                citation = part.startswith("[") and _INLINE.fullmatch(part) and not code
                yield part, CITATION_STYLE if citation else self._style()

    def _style(self) -> str:
        return " ".join([*self._styles.values(), *(["bold"] if self._heading else [])])

    def _write(self, text: str, style: str = "") -> None:
        self._column += cell_len(text)
        self._out(text, style)

    def _out(self, text: str, style: str = "") -> None:
        self._console.out(text, style=style or None, end="", highlight=False)


def write_table(console: Console, headings: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table. If it is too wide, the last column wraps. A heading that ends in a space aligns its column right."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    *others, last = headings
    for heading in others:
        table.add_column(heading.strip(), justify="right" if heading.endswith(" ") else "left", no_wrap=True)
    table.add_column(last, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table, soft_wrap=False)


def write_rows(
    format: Format,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    headings: Sequence[str],
    cells: Iterable[Sequence[str | Text]],
) -> None:
    """Print rows of values as JSON or CSV with these columns, or their `cells` as a table."""
    if format == "json":
        write_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif format == "csv":
        write_csv(columns, rows)
    else:
        write_table(make_console(), headings, cells)


def timeline_bar(start: float, duration: float, whole: float) -> str:
    """A span of time as a bar of at most BAR_CELLS characters: blank up to its start, then at least one block."""
    if whole <= 0:
        return ""
    first = min(BAR_CELLS - 1, int(start / whole * BAR_CELLS))
    length = max(1, round(duration / whole * BAR_CELLS))
    return " " * first + "█" * min(length, BAR_CELLS - first)


@dataclass
class ProgressBar:
    """One bar. `reach` and `advance` may be called for every row."""

    _progress: Progress
    _task: TaskID
    _total: int | None
    _value: int = 0
    _displayed: int = 0

    def reach(self, value: int) -> None:
        """Set the amount done since the beginning."""
        self._value = value
        step = UNKNOWN_TOTAL_STEP if self._total is None else self._total / PROGRESS_STEPS
        if value - self._displayed >= step or (value == self._total and value > self._displayed):
            self._displayed = value
            self._progress.update(self._task, completed=value)

    def advance(self, amount: int) -> None:
        """Add to the amount done."""
        self.reach(self._value + amount)


@contextmanager
def progress_bar(label: str, total: int | None, *, of_bytes: bool = False) -> Iterator[ProgressBar]:
    """A progress bar on stderr, removed at the end of the block; nothing if stderr is no terminal. `total` is None if unknown."""
    console = make_console(stderr=True)
    amount: ProgressColumn = DownloadColumn() if of_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), amount)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        yield ProgressBar(progress, progress.add_task(label, total=total), total)
