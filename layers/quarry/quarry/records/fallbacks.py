"""What Quarry answers from records when no model does: the sources' own best sentences, cited, and questions they can answer.

Pure: the same inputs give the same words.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from quarry.language.nouns import is_doer_of
from quarry.language.sentences import sentences
from quarry.language.tokens import codes_in, is_code
from quarry.language.writing import writing_of
from quarry.platform.text import STOP_WORDS, shorten, significant_words, words
from quarry.records.candidates import RecordText
from quarry.records.evidence import EvidenceSource
from quarry.records.intent import parts
from quarry.records.outputs import FollowupQuestions
from quarry.records.quantities import MONTHS, asked_count
from quarry.spans.measures import MEASURING, words_measuring
from quarry.spans.places import AREAS

SENTENCES_MAX = 7
SENTENCES_PER_SOURCE_MAX = 3
SENTENCE_WORDS_MAX = 70
BODY_CHARACTERS_MAX = 20_000
"""So much of a record is read for sentences to quote."""
LINE_WORDS_MAX = 50
SCORE_SHARE_MIN = 0.6
"""A sentence that scores less than this share of the best one is left out."""
OVERLAP_MAX = 0.55
"""A sentence that shares more of its words than this with one already chosen says nothing new."""

COVERAGE_WEIGHT = 0.55
SOURCE_WEIGHT = 0.50
CUE_WEIGHT = 0.20
MEANING_WEIGHT = 0.30
SPOKEN_WEIGHT = 0.80
"""What somebody said stands behind what the record itself says, unless it is asked what people say."""

OTHERS_WEIGHT = 0.60
"""Where it is asked what somebody said, all else stands behind that."""

STEMS_MIN = 4
"""A sentence with fewer significant words is quoted with the one before it, the first with the one behind; alone, it counts half:
it seldom says anything by itself.
"""

SENTENCE_ENDS = (".", "!", "?", "…")
"""What no name ends with."""

FOLLOWUPS_MAX = 3
PART_STEMS_MIN = 2
"""A part of a record that is called by fewer significant words ("Findings") is named with the whole."""
TOPIC_CHARACTERS_MAX = 90

NEAREST_MAX = 3
"""So many of the nearest are named where nothing answers a question."""

NOTHING_ANSWERS = "The records searched here hold nothing that answers this"
NOTHING_FOUND = f"{NOTHING_ANSWERS}. Other words, or fewer, may find more."
ONLY_NEAREST = "These are the nearest records: they may not answer the question."
"""What an answer of theirs begins with where nothing can be named that they lack."""

IN_PART = "this may answer the question only in part"


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_ASKS_WHO = _words("who", "whom", "whose")
_ASKS_HOW_MUCH_IT_IS = _words("how much (?:is|are|was|were)")
_COST = frozenset(significant_words("cost"))
"""What "how much is the saw?" asks for, and does not say."""
_ASKS_WHERE = _words("where")
_PLACE = frozenset(
    significant_words(
        f"{' '.join(AREAS)} place location address district quarter street state site area zone building floor room hall depot"
        " branch shelf aisle pier dock berth"
    )
)
"""What values tell where something is are called."""
_ASKS_WHICH = _words("which", "what", "who", "whose", "list", "show", "find")
"""What asks for records by their values: that these have them answers it."""
_ASKS_FOR_ROWS = _words("which", "who", "whose", "list", "show", "any")
"""What asks for each row that is so, though others say the same."""
_ASKS_WHAT_IS_SAID = _words(
    "who", "whom", "whose", "says?", "said", "think", "thought", "speak", "spoke", "tell", "told", "argued?", "opinion", "views?",
    "react", "respond(?:ed)?", "explain(?:ed)?", "promised?",
)  # fmt: skip

_ASKS_WHEN = _words("when", "date", "deadline", "since", "until", "open(?:ed|ing)?")
_TELLS_WHEN = re.compile(rf"\b(?:{MONTHS}|20\d\d|spring|summer|autumn|winter)\b")
_CHANGES = _words(
    "(?:go(?:es)?|went|gone) (?:up|down)", "ris(?:es?|en|ing)", "rose", "raise[ds]?", "increase[ds]?", "gr[eo]w[ns]?",
    "climb(?:ed|s)?", "jump(?:ed|s)?", "falls?", "fell", "fallen", "drop(?:s|ped)?", "lower(?:s|ed)?",
)  # fmt: skip
# What a kind of question asks for, and what the answer to it tends to hold.
_CUES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        _words("why", "reason", "how come", "because", "caused?", "what (?:set off|started|brought on|led to)"),
        _words("because", "since", "owing to", "blame[ds]?", "caused?", "so that", "due to", "reason", "in order to",
               "that's why", "would have", "risk", "too", "instead of", "saves?", "wanted"),
    ),
    (
        _words("how (?:much|many|long|often|far|big|high)", "cost", "price", "fee", "rate", "budget", "number", "amount"),
        re.compile(r"\d|\b(?:percent|million|thousand|hundred|dozen|half|twice)\b"),
    ),
    (_CHANGES, _CHANGES),
    (_ASKS_WHEN, _TELLS_WHEN),
    (
        _words("vote[ds]?", "voting", "pass(?:ed)?", "adopt(?:ed)?", "approve[ds]?", "defeated", "reject(?:ed)?", "against",
               "oppose[ds]?", "decide[ds]?", "decision", "outcome", "kept?"),
        re.compile(r"\b\d{1,2}\s?[–-]\s?\d{1,2}\b|\b(?:Carried|Defeated|Adopted|Against|unanimous(?:ly)?|voted|failed|passed)\b"),
    ),
    (
        _ASKS_WHO,
        re.compile(r"\b[A-Z][a-z]+ [A-Z][\w’'-]+"),
    ),
)  # fmt: skip

_NAMED_VALUE = re.compile(r"[^\W\d_A-Z][\w ]{0,79}: \S.{0,200}")
"""A line that says the value of something, as `city: Oslo`: it is quoted with the title of its record."""

_ROLL_CALL = re.compile(r"For: |Moved by ")
LEANS_ON_PREVIOUS = re.compile(r"(?:It|Its|That|This|These|Those|They|Their|He|His|She|Her|So|But|And|Both|Such)\b")


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a source, with the words it shares or not with others, those of them that are its own and not the title's,
    and its score for the question. `is_echo`: it is a value that the question itself names.
    """

    source: EvidenceSource
    place: int
    text: str
    stems: frozenset[str]
    own: frozenset[str]
    is_value: bool = False
    is_echo: bool = False
    score: float = 0.0

    @property
    def matter(self) -> str:
        """What it is about, as far as is known."""
        return self.source.text.topic or self.source.text.title


def extractive_answer(
    question: str,
    search_query: str,
    sources: Sequence[EvidenceSource],
    authors: Set[str] = frozenset(),
    rows: Set[str] = frozenset(),
    *,
    is_list: bool = False,
    called: Set[str] = frozenset(),
) -> Iterator[str]:
    """An answer made of the sources' own sentences, piece by piece, in Markdown with `[n]` citations.

    The best sentences come first. They are chosen by the share of the question's words they hold (rare words count more), by how
    well their source ranked and how near it is in meaning, and by whether they hold what that kind of question asks for: a
    reason, a figure, a date, a vote, a name. What the `authors` said comes before what others did: it is asked for.

    Where rows of some types are asked for, `rows`, they come before others, with what they are called; where it `is_list` of them
    alone, each once. Rows of the types `called` are quoted with what they are called, where somebody or something is asked for.

    A sentence is dated where it is asked when and it does not say so itself, where it is no more than a name, and where another
    one about the same matter is of another day: these would be taken for one event.
    """
    if rows:
        sources = [
            each if each.text.type in rows else replace(each, weight=OTHERS_WEIGHT * each.weight) for each in sources
        ]
    scored = _scored(question, search_query, sources, authors, rows)
    asks_for_rows = bool(_ASKS_FOR_ROWS.search(question))
    chosen = (_of_each(scored, sources, rows) if is_list else []) or _choose(scored, rows if asks_for_rows else ())
    if not chosen:
        yield NOTHING_FOUND
        return
    entitled = rows | called if asks_for_rows else rows
    lead, *others = (
        f"{date}{_quoted(sentence, entitled)}" for sentence, date in zip(chosen, _dates(question, chosen), strict=True)
    )
    yield lead
    if others:
        yield "\n\nAlso in the records:\n"
        for sentence in others:
            yield f"\n- {sentence}"


def said_by(authors: frozenset[str], sources: Sequence[EvidenceSource]) -> Sequence[EvidenceSource]:
    """The sources but for what others said, where it is asked what `authors` said and any source is left."""
    if not authors:
        return sources
    return [source for source in sources if source.text.author is None or source.text.author in authors] or sources


def of_codes(question: str, sources: Sequence[EvidenceSource]) -> Sequence[EvidenceSource]:
    """Those sources that hold a code which a question names, where any does: of others it asks nothing."""
    codes = [code.lower() for code in codes_in(question)]
    said = ((each, f"{each.text.title}\n{read_body(each.text)}".lower()) for each in sources)
    return [each for each, text in said if any(code in text for code in codes)] or sources


def nothing_held(names: Sequence[str], nearest: Sequence[EvidenceSource]) -> str:
    """That the records hold no such thing, where they hold nothing of the names; and what is nearest."""
    said = f"{NOTHING_ANSWERS}: none of them names {_listed(names)}." if names else NOTHING_FOUND
    kinds = {
        markdown_safe(shorten(_called(source.text), 120)): source.text.type.replace("_", " ")
        for source in reversed(nearest)
    }
    lines = [f"\n- {title} ({kind})" for title, kind in list(reversed(kinds.items()))[:NEAREST_MAX]]
    return "".join([said, "\n\nThe nearest that they hold:\n", *lines]) if lines else said


def _called(record: RecordText) -> str:
    """What a record is about, in words: one that is called by a number or a code, by what it says."""
    name = record.topic or record.title
    is_code = all(any(map(str.isdigit, part)) for part in name.split())
    return f"{name}: {' '.join(record.body.split())}" if is_code else name


def lacking(missing: Sequence[str], apart: Sequence[str] = ()) -> str:
    """Which words of a question no record holds, or holds together, so that it is answered in part at most; empty without any."""
    if missing:
        return f"No record names {_listed(missing)}: {IN_PART}."
    if apart:
        return f"No record names {_listed(apart, 'and')} together: {IN_PART}."
    return ""


def read_body(text: RecordText) -> str:
    """So much of a record as is read."""
    return text.body[:BODY_CHARACTERS_MAX]


def values_of(text: RecordText) -> list[str]:
    """The lines of a record that say the value of something, as `city: Oslo`."""
    return [line for line in read_body(text).split("\n") if _NAMED_VALUE.fullmatch(line)]


def _listed(names: Sequence[str], joined: str = "or") -> str:
    return f" {joined} ".join(f"“{markdown_safe(name)}”" for name in names)


def suggest_followups(
    question: str, asked_sources: Sequence[EvidenceSource], pool: Sequence[RecordText]
) -> FollowupQuestions:
    """Questions about records that were found but not used, so that each has an answer."""
    used = {source.text.key for source in asked_sources}
    own = set(significant_words(question))
    fresh = [text for text in pool if text.key not in used] + [source.text for source in asked_sources]
    questions: dict[str, None] = {}
    kinds: Counter[tuple[str, str]] = Counter()
    for text in fresh:
        candidate = _question_about(text)
        if candidate is None or len(set(significant_words(candidate)) - own) < 1:
            continue
        kind, topic = (text.type, text.topic or text.title)
        if kinds[kind, ""] or kinds["", topic] > 1:
            continue
        kinds[kind, ""] += 1
        kinds["", topic] += 1
        questions[candidate] = None
        if len(questions) == FOLLOWUPS_MAX:
            break
    return FollowupQuestions(questions=list(questions))


def followups_about(records: Sequence[RecordText]) -> list[str]:
    """Questions about records that exist, for when nothing was found."""
    return [question for record in records if (question := _question_about(record))]


def _scored(
    question: str, search_query: str, sources: Sequence[EvidenceSource], authors: Set[str], rows: Set[str]
) -> list[_Sentence]:
    asks_who = bool(_ASKS_WHO.search(question))
    asks_which = bool(_ASKS_WHICH.search(question))
    asks_what_is_said = bool(_ASKS_WHAT_IS_SAID.search(question))
    nearest = max((source.similarity or 0.0 for source in sources), default=0.0)
    searched = set(significant_words(search_query))
    if any(source.text.type in rows for source in sources):
        # what rows are called says nothing of one of them
        searched -= set(significant_words(" ".join(rows).replace("_", " ")))
    asked = searched | (MEASURING & {*significant_words(question)})
    if _ASKS_HOW_MUCH_IT_IS.search(question) and searched.isdisjoint(_labels(sources)):
        asked |= _COST
    named = _AskedValue.of(question, searched)
    pool = [
        _Sentence(
            source,
            place,
            f"{title}{text}",
            measuring.union(significant_words(title + text)),
            measuring.union(significant_words(text)),
            bool(title),
            bool(title) and asked.issuperset(significant_words(text.partition(": ")[2])),
        )
        for source in sources
        for place, (title, text) in enumerate(_quotable_units(source.text, named, asked))
        if asks_who or not _ROLL_CALL.match(text)
        for measuring in [_measuring(text) & asked if title else frozenset[str]()]
    ]
    holders = Counter(word for sentence in pool for word in sentence.own & asked)
    weights = {word: math.log(1 + len(pool) / (1 + holders[word])) for word in asked if holders[word]}
    total = sum(weights.values()) or 1.0
    cues: list[Callable[[str], object]] = [answer.search for asks, answer in _CUES if asks.search(question)]
    cues += [kind.is_told for part in parts(question) if (kind := asked_count(part))]
    about = {source.n: asked.intersection(_about(source.text)) for source in sources}
    asks_for_value = any(_is_value_asked_for(sentence, named) for sentence in pool)
    scored: list[_Sentence] = []
    for sentence in pool:
        held = sum(weights[word] for word in sentence.own & asked if word in weights)
        # what the title already says need not be said again in the sentence
        of_title = sum(weights[word] for word in about[sentence.source.n] - sentence.own if word in weights)
        held += 0.5 * of_title
        cue = sum(bool(answer(sentence.text)) for answer in cues) / len(cues) if cues else 0.0
        if sentence.is_value and asks_for_value:
            cue = float(_is_value_asked_for(sentence, named))
            # it is the answer, of what its title says
            held += cue * 0.5 * of_title
        score = COVERAGE_WEIGHT * held / total + SOURCE_WEIGHT * sentence.source.weight + CUE_WEIGHT * cue
        if nearest > 0:
            score += MEANING_WEIGHT * (sentence.source.similarity or 0.0) / nearest
        score *= sentence.source.text.quoting.weight
        if authors and asks_what_is_said:
            score *= 1.0 if sentence.source.text.author in authors else OTHERS_WEIGHT
        elif sentence.source.text.author and not asks_what_is_said:
            score *= SPOKEN_WEIGHT
        if (len(sentence.stems) < STEMS_MIN and not sentence.is_value) or (sentence.is_echo and not asks_which):
            score *= 0.5
        scored.append(replace(sentence, score=score))
    return sorted(scored, key=lambda item: (-item.score, item.source.n, item.place))


@dataclass(frozen=True)
class _AskedValue:
    """Which values a question asks for: those that its words are the name of ("which loom": `loom: Draw loom`), whoever did what
    it says that somebody `did` ("who directed it": `director: Ada`), and, of what it names, where that is.
    """

    searched: Set[str]
    did: Set[str]
    asks_where: bool

    @staticmethod
    def of(question: str, searched: Set[str]) -> _AskedValue:
        did = {word for word in words(question) if word not in STOP_WORDS} if _ASKS_WHO.search(question) else set[str]()
        return _AskedValue(searched, did, bool(_ASKS_WHERE.search(question)))

    def is_called(self, label: str, title: str) -> bool:
        """Whether a value of the record with this title is asked for, by what it is called."""
        name = {*significant_words(label)}
        if self.asks_where and name & _PLACE and self.searched <= {*significant_words(title)}:
            return True
        return bool(name) and (self.searched >= name or any(is_doer_of(label.lower(), verb) for verb in self.did))


def _is_value_asked_for(sentence: _Sentence, asked: _AskedValue) -> bool:
    """Whether it is a value that the question asks for, and does not name itself."""
    if not sentence.is_value or sentence.is_echo:
        return False
    title = sentence.source.text.title
    label, _, _ = sentence.text[len(shorten(title, TOPIC_CHARACTERS_MAX)) + 3 :].partition(": ")
    return asked.is_called(label, title)


def _measuring(line: str) -> frozenset[str]:
    """The words that speak of the number which a line tells: "cost" of `price: 12`."""
    label, _, value = line.partition(": ")
    return words_measuring(words(label)) if value[:1].isdigit() else frozenset()


def _labels(sources: Sequence[EvidenceSource]) -> frozenset[str]:
    """The words of what the values of the sources are called."""
    lines = (line for source in sources for line in values_of(source.text))
    return frozenset(significant_words(" ".join(line.partition(": ")[0] for line in lines)))


def _about(record: RecordText) -> list[str]:
    """The words of what a record is called, is part of, and has for values."""
    return significant_words(" ".join((record.title, record.topic or "", *values_of(record))))


def _choose(scored: Sequence[_Sentence], rows: Container[str] = ()) -> list[_Sentence]:
    """The best sentences, none that says what another does, but that it says it of another of the `rows` asked for."""
    chosen: list[_Sentence] = []
    from_source: Counter[int] = Counter()
    for sentence in scored:
        if len(chosen) == SENTENCES_MAX or sentence.score < SCORE_SHARE_MIN * scored[0].score:
            break
        if from_source[sentence.source.n] == SENTENCES_PER_SOURCE_MAX or any(
            _overlap(sentence, other) > OVERLAP_MAX for other in chosen if not _are_of_two(sentence, other, rows)
        ):
            continue
        chosen.append(sentence)
        from_source[sentence.source.n] += 1
    return chosen


def _of_each(scored: Sequence[_Sentence], sources: Sequence[EvidenceSource], rows: Set[str]) -> list[_Sentence]:
    """Of each of the rows its best sentence, or else its first value."""
    best = {sentence.source.n: sentence for sentence in reversed(scored)}
    return [
        best.get(source.n)
        or _Sentence(source, 0, f"{_title(source.text)}{value}", frozenset(), frozenset(), is_value=True)
        for source in sources
        if source.text.type in rows
        for value in [next(iter(values_of(source.text)), "")]
        if source.n in best or value
    ]


def _title(record: RecordText) -> str:
    """The title as it stands before a value."""
    return f"{shorten(record.title, TOPIC_CHARACTERS_MAX)} – "


def _are_of_two(one: _Sentence, other: _Sentence, rows: Container[str]) -> bool:
    """Whether they tell values of two records, or are of two of the rows that are asked for: these may well say the same."""
    are_asked_for = one.source.text.type in rows and other.source.text.type in rows
    return ((one.is_value and other.is_value) or are_asked_for) and one.source.n != other.source.n


def _overlap(one: _Sentence, other: _Sentence) -> float:
    smaller = min(len(one.stems), len(other.stems))
    return len(one.stems & other.stems) / smaller if smaller else 1.0


def _quotable_units(record: RecordText, named: _AskedValue, asked: Set[str]) -> Iterator[tuple[str, str]]:
    """What may be quoted of a record by itself, and the title before it, if any: the value of something is quoted with the title
    of its record, where it is what is `named`, or holds a word of `asked`, or nothing but the title is asked for.
    """
    searched = named.searched
    values, prose = list[str](), list[str]()
    for line in read_body(record).split("\n"):
        (values if _NAMED_VALUE.fullmatch(line) else prose).append(line)
    yield from (("", unit) for unit in _sentences_of(record, "\n".join(prose)))
    title, called = _title(record), set(significant_words(record.title))
    is_meant = bool(searched) and (searched <= called or (is_code(record.title) and called <= searched))
    is_measured = not asked <= searched and any(asked & _measuring(line) for line in values)
    for line in values:
        holds_a_word = not asked.isdisjoint({*significant_words(line), *_measuring(line)})
        if holds_a_word or (is_meant and not is_measured) or named.is_called(line.partition(": ")[0], record.title):
            yield title, line


def _sentences_of(record: RecordText, body: str) -> list[str]:
    """The sentences of a record, as its type is quoted."""
    first, *rest = body.split("\n")
    match record.quoting.unit:
        case "lead" if rest:
            return [f"{first} {rest[0]}", *(unit for line in rest[1:] for unit in _readable_sentences(line))]
        case "line":
            return [first]
        case "short_line" if len(words(first)) <= LINE_WORDS_MAX:
            return [first]
    return _readable_sentences(body)


def _readable_sentences(text: str) -> list[str]:
    """The sentences of a text; one that leans on its predecessor ("That is why …") takes it along, as does a short one in its
    line.
    """
    found: list[str] = []
    for line in text.split("\n"):
        is_short = False
        for place, sentence in enumerate(sentences(line)):
            leans = bool(LEANS_ON_PREVIOUS.match(sentence)) or (place > 0 and (is_short or _is_short(sentence)))
            together = len(words(found[-1])) + len(words(sentence)) if found else 0
            if found and leans and together <= SENTENCE_WORDS_MAX:
                found[-1] = f"{found[-1]} {sentence}"
            else:
                found.append(sentence)
            is_short = _is_short(found[-1])
    return found


def _is_short(sentence: str) -> bool:
    return len(significant_words(sentence)) < STEMS_MIN


def _quoted(sentence: _Sentence, rows: Set[str]) -> str:
    """A sentence with who said it, or what the row is called that is asked for, and its citation."""
    text = markdown_safe(shorten(sentence.text, 600))
    record = sentence.source.text
    if record.type in rows and not sentence.is_value and sentence.text != record.title and _has_name(record):
        text = f"{markdown_safe(shorten(record.title, TOPIC_CHARACTERS_MAX))} – {text}"
    if record.author:
        text = f"{markdown_safe(shorten(record.title, 200))}: “{text.strip('“”')}”"
    return f"{text} [{sentence.source.n}]"


def _has_name(record: RecordText) -> bool:
    """Whether a record is called by something else than how its text begins."""
    return not record.body.startswith(record.title.rstrip("…"))


def _dates(question: str, chosen: Sequence[_Sentence]) -> Iterator[str]:
    """What stands before each of the sentences: its date, or nothing."""
    days: dict[str, set[datetime.date]] = {}
    for sentence in chosen:
        if sentence.source.text.date:
            days.setdefault(sentence.matter, set()).add(sentence.source.text.date)
    asks_when = bool(_ASKS_WHEN.search(question))
    for sentence in chosen:
        text = sentence.source.text
        is_name = sentence.text == text.title and text.title[-1:] not in SENTENCE_ENDS
        is_asked = asks_when and not _TELLS_WHEN.search(sentence.text)
        if text.date and (is_asked or is_name or len(days[sentence.matter]) > 1):
            yield f"**{writing_of(text.language).date(text.date)}**: "
        else:
            yield ""


def markdown_safe(text: str) -> str:
    """Source text must not read as markup, nor as a citation."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)


def _question_about(text: RecordText) -> str | None:
    """What the record can answer; None where a question would name its author or topic, and it has none."""
    asked = text.quoting.followup
    if "{author}" in asked and not (text.author and text.topic):
        return None
    whole, _, part = text.title.partition(": ")
    if part and len(significant_words(part)) < PART_STEMS_MIN:
        part = f"{part} ({whole})"
    return asked.format(topic=_topic(_called(text)), title=_topic(part or _called(text)), author=text.author)


def _topic(title: str) -> str:
    return shorten(title.strip().rstrip(".?!"), TOPIC_CHARACTERS_MAX)
