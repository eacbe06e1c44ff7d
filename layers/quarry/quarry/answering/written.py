"""The form in which a model writes an answer: a first line that names its sources, the text, and at the end what to ask next.

Sources: 2, 5, r1

The bridge was closed for frost damage [2][5].

Next: When does it open again?
"""

from __future__ import annotations

from dataclasses import dataclass, field

HEAD = "sources:"
NEXT = "next:"
RESULT = "r"
"""Before the number of a query's result."""
NONE = "none"
"""What the first line says of an answer that rests on nothing."""
HEAD_CHARACTERS_MAX = 200
FOLLOWUPS_MAX = 3
FORM = """Write the answer in this form:
Sources: the numbers of the sources and query results you answer from or cite, the main one first, as `r1, 2, 5`, or `none`
(an empty line)
the answer
(an empty line)
Next: a question of at most 15 words that these records can answer and the user may ask next (two or three such lines)"""
"""The part of the prompt that describes the form."""


@dataclass
class WrittenAnswer:
    """Feed it the model's text; it gives back the answer's. A model that leaves out the first line or the last ones is read too.

    `kept` are the numbers of sources that the first line names; None where there is no such line. `main_result` is the first
    result of a query that it names. What it gives back in all is the same however the text was cut.
    """

    kept: frozenset[int] | None = None
    main_result: int | None = None
    names: tuple[str, ...] = ()
    """All that the first line names, but for `none`."""
    followups: list[str] = field(default_factory=list)
    _held: str = ""
    _space: str = ""
    """The last line ends: dropped where only the next questions follow."""
    _has_begun: bool = False
    _at_line_start: bool = True
    _in_next: bool = False

    @property
    def rests_on_nothing(self) -> bool:
        """Whether the first line says that the answer rests on no source and no result."""
        return self.kept is not None and not self.names

    def feed(self, piece: str) -> str:
        """The part of the answer that is complete by now."""
        part = self._space + self._released(piece, final=False)
        kept = part.rstrip("\n")
        self._space = part[len(kept) :]
        return kept

    def finish(self) -> str:
        """The rest, once the model is done."""
        return (self._space + self._released("", final=True)).rstrip()

    def _released(self, piece: str, *, final: bool) -> str:
        self._held += piece
        if not self._has_begun and not self._read_head(final=final):
            return ""
        part = ""
        while self._held:
            line, newline, rest = self._held.partition("\n")
            may_be_next = self._at_line_start and _may_begin(line, NEXT)
            if not newline and not final and (may_be_next or self._in_next):
                break
            if self._at_line_start and _begins(line, NEXT):
                self._in_next = True
            if self._in_next:
                self._read_next(line)
            else:
                part += line + newline
            self._held, self._at_line_start = rest, bool(newline)
        return part

    def _read_head(self, *, final: bool) -> bool:
        """Whether the first line is known to be the head, which is then read, or not to be."""
        self._held = self._held.lstrip()
        line, newline, rest = self._held.partition("\n")
        if _begins(line, HEAD) and (newline or final) and len(line) <= HEAD_CHARACTERS_MAX:
            named = _words(line)
            self.kept = frozenset(int(word) for word in named if word.isdecimal())
            results = [word.removeprefix(RESULT) for word in named if word.startswith(RESULT)]
            self.main_result = next((int(number) for number in results if number.isdecimal()), None)
            self.names = tuple(word for word in named[1:] if word != NONE)
            self._held = rest.lstrip("\n")
            # empty lines may still follow
            self._has_begun = bool(self._held) or final
            self._held = self._held if self._has_begun else f"{line}\n"
            return self._has_begun
        is_open = not newline and _may_begin(line, HEAD) and len(line) <= HEAD_CHARACTERS_MAX and not final
        self._has_begun = not is_open
        return self._has_begun

    def _read_next(self, line: str) -> None:
        if _begins(line, NEXT):
            question = line.strip(" -*#")[len(NEXT) :].strip(" *")
            if question and question not in self.followups and len(self.followups) < FOLLOWUPS_MAX:
                self.followups.append(question)


def _begins(line: str, mark: str) -> bool:
    return line.lstrip(" -*#").casefold().startswith(mark)


def _may_begin(line: str, mark: str) -> bool:
    """Whether a line begins with the mark, or may do so when it is longer."""
    line_start = line.lstrip(" -*#").casefold()
    return line_start.startswith(mark) or mark.startswith(line_start)


def _words(line: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in line.casefold()).split()
