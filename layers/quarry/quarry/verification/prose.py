"""What is wrong with a statement by a passage: quotations, numbers, dates, units, names, speakers, sides, polarity and order;
then how much of what it says the passage says at all. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations, pairwise, permutations

from quarry.language.word_forms import stem
from quarry.platform.text import words
from quarry.verification.passages import (
    QUOTED,
    Clause,
    Finding,
    OtherEvidence,
    Passage,
    clauses_of,
    display_name,
    exchanges,
    folded,
    has_name,
    names_in,
    parted,
)
from quarry.verification.roles import check_order, check_roles
from quarry.verification.values import Day, Number, Values, blanked, english, read_values, root_of, side_of, spans_of

FLAGGED_BELOW, PLAUSIBLE_BELOW = 0.25, 0.6
"""Shares of a statement's words that the passage has."""
ANYWHERE_WEIGHT = 0.9
"""What a word counts that stands in the source, but not in the passage that has most of them."""
QUOTED_WORDS_MIN = 3
SAME_BESIDE_MIN = 2
"""As many words as these, on both sides of one that differs, show that a clause was taken from a sentence."""
ALIGNED_MIN, ALIGNED_MAX, SAME_CLAUSE_MIN = 0.4, 2, 0.7


@dataclass
class Prose:
    """What a statement, or a part of one, says."""

    text: str
    question: str = ""
    before: str = ""
    is_foreign: bool = False
    known_names: frozenset[str] = frozenset()
    counts: frozenset[float] = frozenset()
    """How many sources and list items there are, and the numbers that were told before."""

    @cached_property
    def outside(self) -> str:
        """The text without what it quotes."""
        return QUOTED.sub(lambda match: "\0" * len(match.group()), self.text)

    @cached_property
    def quotes(self) -> list[str]:
        return [one or other for one, other in QUOTED.findall(self.text)]

    @cached_property
    def values(self) -> Values:
        return read_values(self.outside)

    @cached_property
    def undated(self) -> str:
        """The text outside of quotations, without its dates."""
        return blanked(self.outside, [(each.start, each.end) for each in self.values.days])

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.outside.replace("\0", " ")))

    @cached_property
    def stems(self) -> frozenset[str]:
        return english().stems(blanked(self.outside, spans_of(self.values)).replace("\0", " "))

    @cached_property
    def clauses(self) -> list[Clause]:
        return [part for each in clauses_of(self.outside.replace("\0", " ")) for part in parted(each)]

    @cached_property
    def before_values(self) -> Values:
        return read_values(self.before)

    @cached_property
    def question_words(self) -> frozenset[str]:
        return frozenset(words(self.question))

    def ends_name(self, number: Number) -> bool:
        """Whether a number is the end of a name that the question has ("Fieldnote 2.0")."""
        before = self.outside[: number.start].rsplit(maxsplit=1)[-1:]
        return any(word[:1].isupper() and folded(f"{word} {number.text}") in folded(self.question) for word in before)

    def is_about(self, number: Number) -> bool:
        """Whether a number is said to be a rough one."""
        before = words(re.split(r"[,.;:(]", self.outside[max(0, number.start - 24) : number.start])[-1])[-2:]
        return english().has("about", before[-1:]) or " ".join(before) in ("at most", "at least")


def check_prose(prose: Prose, passage: Passage, beside: OtherEvidence) -> Finding:
    """What is wrong with a statement by a passage. A value that stands `beside` need not stand there too."""
    finding = Finding()
    finding.wrong += [
        passage.gettext("{source} does not say “{quote}”", quote=quote) for quote in _not_quoted(prose, passage)
    ]
    _check_values(prose, passage, finding, beside)
    names = [*names_in(prose.undated.replace("\0", "."), prose.known_names)]
    if not prose.is_foreign:
        _check_names(prose, passage, [each for each in names if not beside.has_name(each)], finding)
        _check_speaker(prose, passage, names, finding)
        _check_sides(prose, passage, names, finding)
        _check_polarity(prose, passage, finding)
        _check_unanimity(prose, passage, finding)
        check_order(prose.outside, passage, finding)
        check_roles(prose.outside, passage, finding)
    _check_cover(prose, passage, names, finding)
    return finding


def _not_quoted(prose: Prose, passage: Passage) -> Iterator[str]:
    for quote in prose.quotes:
        for part in re.split(r"…|\.\.\.|\[[^\]]*\]", quote):
            if len(words(part)) >= QUOTED_WORDS_MIN and folded(part) not in passage.folded:
                yield part.strip()


def _check_values(prose: Prose, passage: Passage, finding: Finding, beside: OtherEvidence) -> None:
    votes = {each.counts for each in passage.values.votes}
    for vote in prose.values.votes:
        # both numbers may stand there as such: "ayes: 7, noes: 2"
        if vote.counts not in votes and vote.counts not in pairwise(each.value for each in passage.values.numbers):
            finding.wrong.append(_instead(vote.text, [each.text for each in passage.values.votes], passage))
    for day in prose.values.days:
        if not (passage.dated(day) or day.text.lower() in prose.question.lower() or beside.has_day(day)):
            finding.wrong.append(passage.gettext("{source} does not give the date {day}", day=day.text))
    for number in prose.values.numbers:
        _check_number(number, prose, passage, finding, beside)
    _check_marks(prose, passage, finding)


def _check_marks(prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether the source has the exact times of day, codes, and words such as names of seasons."""
    times = {time for time, _ in passage.values.times}
    for time, text in prose.values.times:
        if time not in times and time + 720 not in times and time - 720 not in times:
            finding.wrong.append(passage.gettext("{source} does not give the time {text}", text=text))
    for code in prose.values.codes:
        parts = re.findall(r"\d+", code)
        if not all(re.search(rf"(?<!\d){part}(?!\d)", passage.all + prose.question) for part in parts):
            finding.weak.append(passage.gettext("{code} is not in {source}", code=code))
    for word in sorted(prose.words & english().exclusive - passage.words):
        finding.wrong.append(passage.gettext("{source} does not say {word}", word=word))


def _instead(text: str, values: Sequence[str], passage: Passage) -> str:
    """What a reason says of a value that is not there."""
    if len(set(values)) == 1:
        return passage.gettext("{source} says {value}, not {text}", value=values[0], text=text)
    return passage.gettext("{text} is not in {source}", text=text)


def _check_number(number: Number, prose: Prose, passage: Passage, finding: Finding, beside: OtherEvidence) -> None:
    same = passage.same_as(number, loose=prose.is_about(number))
    if same:
        _check_unit(number, same, passage, finding)
        _check_beside(number, same, prose, passage, finding)
        _check_trend(number, same, prose, passage, finding)
        return
    if _follows(number, prose, passage) or beside.has_number(number) or prose.ends_name(number):
        return
    if prose.is_foreign and any(number.value in each.counts for each in passage.values.votes):
        return
    has_unit = number.unit is not None or number.is_percent
    kind = number.unit, number.is_percent
    alike = [each.text for each in passage.values.numbers if has_unit and (each.unit, each.is_percent) == kind]
    is_vague = number.in_words and number.value <= 10 and number.unit is None and not number.is_fraction
    if is_vague and number.value in prose.counts:
        return
    if is_vague:
        mine = english().stems(" ".join(words(re.split(r"[,;:.()]", prose.outside[number.end :])[0])[:5]))
        numbers = passage.values.numbers
        rivals = [
            each for each in numbers if _is_alike_kind(number, each) and mine & _beside(passage.all, each, numbers)
        ]
        is_vague, alike = not rivals, [each.text for each in rivals]
    (finding.weak if is_vague else finding.wrong).append(_instead(number.text, alike, passage))


def _check_unit(number: Number, same: Sequence[Number], passage: Passage, finding: Finding) -> None:
    units = {each.unit for each in same}
    if number.unit and number.unit not in units:
        if None not in units:
            unit = min(filter(None, units))
            finding.denied.append(passage.gettext("{source} says {number} in {unit}", number=same[0].text, unit=unit))
        elif number.unit.isupper():
            no_currency = passage.gettext("{source} gives no currency for {number}", number=number.text)
            finding.wrong += [no_currency] if passage.currencies != {number.unit} else []
        elif number.unit not in passage.words and all(each.unit != number.unit for each in passage.values.numbers):
            names = {"number": number.text, "unit": number.unit}
            finding.wrong.append(passage.gettext("{source} does not say {number} in {unit}", **names))
        else:
            finding.weak.append(passage.gettext("{source} does not give {number} this unit", number=number.text))
    rates = {each.rate for each in same}
    if number.rate and None not in rates and number.rate not in rates:
        period = min(filter(None, rates))
        finding.denied.append(passage.gettext("{source} says {number} a {period}", number=number.text, period=period))


def _beside(text: str, number: Number | Day, numbers: Sequence[Number | Day]) -> frozenset[str]:
    """The stems beside a number, up to the numbers and stops around it."""
    start = max((each.end for each in numbers if each.end <= number.start), default=0)
    end = min((each.start for each in numbers if each.start >= number.end), default=len(text))
    wording = english()
    before = re.split(r"[;:.(,\n]\s|\0", text[start : number.start])[-1]
    behind = re.split(r"[;:.)\n]\s?|\0|, ", text[number.end : end])[0]
    return wording.stems(before) | wording.stems(behind)


def _check_beside(number: Number, same: Sequence[Number], prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether the words beside a number are those beside another number of the source, which the statement has elsewhere."""
    if number.in_words and number.unit is None:
        return
    mine = _beside(prose.outside, number, prose.values.numbers)
    if not mine:
        return
    numbers = passage.values.numbers
    own = [_beside(passage.all, each, numbers) for each in same]
    if any(mine & each or not each for each in own):
        return
    for other in prose.values.numbers:
        if other is number or not _is_alike_kind(number, other):
            continue
        theirs = _beside(prose.outside, other, prose.values.numbers)
        swapped = [_beside(passage.all, each, numbers) for each in passage.same_as(other, loose=False)]
        if any(mine & each for each in swapped) and not any(theirs & each for each in swapped):
            finding.wrong.append(passage.gettext("{source} says {number} of something else", number=number.text))
            return
    alike = [each for each in numbers if _is_alike_kind(number, each) and each not in same]
    best = max(alike, key=lambda each: len(mine & _beside(passage.all, each, numbers)), default=None)
    shared = len(mine & _beside(passage.all, best, numbers)) if best is not None else 0
    # "of the 214 members 88 attended" says 214 too
    is_said = best is not None and any(each.value == best.value for each in prose.values.numbers)
    if best is not None and shared >= 2 and not is_said:
        reason = passage.gettext("{source} says {best} here, not {number}", best=best.text, number=number.text)
        (finding.wrong if shared >= SAME_CLAUSE_MIN * len(mine) else finding.weak).append(reason)


def _check_trend(number: Number, same: Sequence[Number], prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether a number rises here and falls there."""
    mine = _trend(prose.outside, number)
    theirs = {_trend(passage.all, each) for each in same}
    if mine is not None and theirs == {not mine}:
        finding.denied.append(
            passage.gettext("{source} has {number} as a fall", number=number.text)
            if mine
            else passage.gettext("{source} has {number} as a rise", number=number.text)
        )


def _trend(text: str, number: Number) -> bool | None:
    """True where a number is said to rise or be more, False for the opposite; None where neither or both is said beside it."""
    before = words(re.split(r"[;:.(,]\s", text[max(0, number.start - 40) : number.start])[-1])[-2:]
    behind = words(re.split(r"[;:.),]", text[number.end : number.end + 24])[0])[:1]
    near = frozenset((*before, *behind))
    wording = english()
    up, down = wording.has("rising", near), wording.has("falling", near)
    return None if up == down else up


def _is_alike_kind(one: Number, other: Number) -> bool:
    return one.unit == other.unit and one.is_percent == other.is_percent


def _follows(number: Number, prose: Prose, passage: Passage) -> bool:
    """Whether a number follows from others of the statement or, where it compares, of the source."""
    wording = english()
    others = [each for each in (*prose.values.numbers, *prose.before_values.numbers) if each is not number]
    operands = [each for each in others if passage.same_as(each, loose=False)]
    if wording.has("changes", prose.words) or wording.has("differences", prose.words) or number.is_fraction:
        operands += [each for each in passage.values.numbers if each.unit is not None and each.unit.isupper()][:12]
    changes, plain = wording.has("changes", prose.words), [each for each in operands if not each.is_percent]
    if number.is_percent or number.is_fraction:
        factor, loose = 100.0 if number.is_percent else 1.0, number.is_fraction
        pairs = ((a, b) for a, b in permutations(plain, 2) if b.value and a.unit == b.unit)
        return any(
            (a.value <= b.value and number.is_near(factor * a.value / b.value, loose=loose and prose.is_about(number)))
            or (changes and number.is_near(factor * abs(a.value / b.value - 1), loose=loose))
            for a, b in pairs
        )
    if number.is_small and not any(wording.has(each, prose.words) for each in ("differences", "sums", "averages")):
        return False
    loose = prose.is_about(number)
    products = [a.value * b.value / 100 for a, b in permutations(operands, 2) if b.is_percent]
    alike = [(a.value, b.value) for a, b in combinations(plain, 2) if a.unit == b.unit]
    sums = [value for a, b in alike for value in (a + b, a - b)]
    shares = [a.value / b.value for a, b in permutations(plain, 2) if a.unit == number.unit and not b.unit and b.value]
    return any(number.is_near(value, loose=loose) for value in (*products, *sums, *(shares if number.unit else ())))


def _check_names(prose: Prose, passage: Passage, names: Sequence[tuple[str, ...]], finding: Finding) -> None:
    question = folded(prose.question)
    for name in names:
        if not has_name(name, passage.folded, passage.words) and not has_name(name, question, prose.question_words):
            finding.wrong.append(passage.gettext("{source} does not name {name}", name=display_name(name)))


def _check_speaker(prose: Prose, passage: Passage, names: Sequence[tuple[str, ...]], finding: Finding) -> None:
    """Whether who is said to say it is the source's author, or is quoted there."""
    author = frozenset(words(passage.author))
    speaker = next((name for name in names if author and _is_before_verb(name, prose.outside)), None)
    if speaker is None or author.intersection(speaker):
        return
    if not any(speaker[-1] in each.words and english().has("said", each.words) for each in passage.sentences):
        finding.wrong.append(passage.gettext("{source} is by {author}", author=passage.author))


def _is_before_verb(name: tuple[str, ...], text: str) -> bool:
    """Whether a name stands right before a word for saying something, or behind "according to"."""
    low = text.lower()
    for match in re.finditer(re.escape(name[-1]), low):
        behind = words(low[match.end() : match.end() + 30])[:2]
        if english().has("said", behind) or low[: match.start()].rstrip().endswith("according to"):
            return True
    return False


def _check_sides(prose: Prose, passage: Passage, names: Sequence[tuple[str, ...]], finding: Finding) -> None:
    """Whether who is named for or against something is on that side in the source."""
    for name in names:
        clause = next((each.text.lower() for each in prose.clauses if name[-1] in each.words), prose.outside.lower())
        mine = side_of(clause)
        if mine is None:
            continue
        sentences = [each for each in passage.sentences if name[-1] in each.words]
        sides = {
            side_of(part.text.lower()) for each in sentences for part in clauses_of(each.text) if name[-1] in part.words
        }
        sides |= {side_of(each.text.lower()) for each in sentences}
        if sides and mine not in sides:
            shown_name = display_name(name)
            if (not mine) not in sides:
                finding.weak.append(passage.gettext("{source} does not say how {name} voted", name=shown_name))
            elif mine:
                finding.denied.append(passage.gettext("{source} has {name} against it", name=shown_name))
            else:
                finding.denied.append(passage.gettext("{source} has {name} for it", name=shown_name))


def _aligned(clause: Clause, passage: Passage) -> list[Clause]:
    """The parts of the source's sentences that are nearest to a clause and have some of its words."""

    def nearness(each: Clause) -> tuple[float, int]:
        return len(clause.stems & each.stems) / (1 + len(clause.stems | each.stems) ** 0.5), -len(each.stems)

    parts = [each for each in passage.clauses if len(clause.stems & each.stems) >= ALIGNED_MIN * len(clause.stems)]
    return sorted(parts, key=nearness, reverse=True)[:ALIGNED_MAX]


def _check_polarity(prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether a clause says the opposite of the part of the source that is nearest to it, denies what that says, or has another
    word in its place.
    """
    if not passage.clauses:
        return
    for clause in prose.clauses:
        if len(clause.stems) < 2:
            continue
        for other in _aligned(clause, passage):
            _check_opposites(clause, other, passage, finding)
        _check_negation(clause, prose, passage, finding)
        _check_substitute(clause, passage, finding)
    _check_decisions(prose, passage, finding)


def _check_opposites(clause: Clause, other: Clause, passage: Passage, finding: Finding) -> None:
    for mine, theirs in _opposed(clause.words, other.words):
        if any(mine in each.words and each.stems & clause.stems & other.stems for each in passage.clauses):
            continue  # the source says both
        if (mine in clause.denied) == (theirs in other.denied):
            finding.denied.append(passage.gettext("{source} says “{theirs}”, not “{mine}”", theirs=theirs, mine=mine))
    turned = [
        *((bare, word) for word, bare in _turned(clause.words - passage.words, other) if word not in clause.denied),
        *((word, bare) for word, bare in _turned(other.words - clause.words, clause) if bare not in passage.words),
    ]
    for theirs, mine in turned:
        finding.denied.append(passage.gettext("{source} says “{theirs}”, not “{mine}”", theirs=theirs, mine=mine))


def _turned(terms: Iterable[str], other: Clause) -> Iterator[tuple[str, str]]:
    """The words that a prefix turns into the opposite of one that another clause says, and that one."""
    for word in terms:
        bare = next((word.removeprefix(each) for each in english().prefixes if word.startswith(each)), "")
        if len(bare) > 3 and bare in other.words and bare not in other.denied:
            yield word, bare


def _opposed(mine: frozenset[str], theirs: frozenset[str]) -> Iterator[tuple[str, str]]:
    for one, two in english().opposites:
        for a, b in ((one, two), (two, one)):
            if mine & a and not mine & b and theirs & b and not theirs & a:
                yield min(mine & a), min(theirs & b)


def _check_negation(clause: Clause, prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether a word is denied on one side, and nothing is in the clauses of the other that share another word with it."""
    wording = english()
    denied = {root for each in prose.clauses for root in each.denied_stems}
    for root in sorted(clause.stems & prose.stems):
        holders = [
            each
            for each in passage.clauses_with(root, prose.stems)
            if len(each.stems & clause.stems) * 2 >= min(len(each.stems), len(clause.stems))
        ]
        if not holders:
            continue
        if root in clause.denied_stems:
            differs = not any(wording.may_deny(_without(each.words, root)) for each in holders)
        else:
            is_plain = not wording.may_deny(_without(clause.words, root)) and root not in denied
            differs = is_plain and all(root in each.denied_stems for each in holders)
        if differs:
            is_sure = max(len(each.stems & clause.stems) for each in holders) >= 2 or len(clause.stems) <= 3
            text = holders[0].text.strip()
            (finding.denied if is_sure else finding.weak).append(passage.gettext("{source} says: “{text}”", text=text))
            return


def _without(words: frozenset[str], root: str) -> list[str]:
    return [word for word in words if root_of(word) != root]


def _check_substitute(clause: Clause, passage: Passage, finding: Finding) -> None:
    """Whether a clause has another word where a sentence of the source, in otherwise the same words, has one."""
    mine = english().stem_list(clause.text)
    if len(mine) < 3:
        return
    other = max(passage.sentences, key=lambda each: (len(each.stems.intersection(mine)), -len(each.stems)))
    theirs = english().stem_list(other.text)
    matches = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    if 2 * sum(each.size for each in matches) < len(mine):
        return
    verbs = [*map(stem, english().sets["said"])]
    for start, one, others, beside in exchanges(mine, theirs, matches):
        is_short = len(one) <= 2 and len(others) <= 2 and beside >= SAME_BESIDE_MIN
        is_verb = start == 0 and one[0] in verbs
        if is_short and not is_verb and passage.stems.isdisjoint(one):
            finding.weak.append(passage.gettext("{source} says “{quote}”", quote=other.text.strip()))
            return


def _check_decisions(prose: Prose, passage: Passage, finding: Finding) -> None:
    """Whether a vote decided what is said: its own sentence says how it ended."""
    one, two = english().opposites[0]
    for vote in prose.values.votes:
        near = frozenset(words(re.split(r"[,;] | and ", prose.outside[: vote.start])[-1]))
        if near.isdisjoint(one | two) and len(prose.values.votes) == 1:
            near = prose.words  # "it split 2–2, so that it was defeated"
        want = bool(near & one) - bool(near & two)
        got = {
            bool(each.words & one) - bool(each.words & two)
            for each in passage.sentences
            if vote.counts in {other.counts for other in read_values(each.text).votes}
        }
        if want and got and want not in got and 0 not in got:
            finding.denied.append(passage.gettext("{source} says that the vote {vote} ended otherwise", vote=vote.text))


def _check_unanimity(prose: Prose, passage: Passage, finding: Finding) -> None:
    wording = english()
    if wording.has("unanimous", prose.words):
        is_denied = any(wording.has("unanimous", each.denied) for each in prose.clauses)
        is_so = wording.has("unanimous", passage.words) or any(0 in each.counts for each in passage.values.votes)
        if not is_denied and not is_so:
            finding.denied.append(passage.gettext("{source} does not say that it was unanimous"))
    elif wording.opposed.search(prose.outside.lower()) and prose.values.votes == []:
        window = passage.window_of(prose.stems)
        if "unanimously" in words(window.text) and re.search(r"\bdissent", prose.outside.lower()):
            finding.denied.append(passage.gettext("{source} says unanimously"))


def cover(stems: frozenset[str], passage: Passage) -> float:
    """The share of the stems that a passage of the source has, its title included."""
    if not stems:
        return 1.0
    head = english().stems(passage.head)
    near = len(stems & (passage.window_of(stems).stems | head))
    return max(near, ANYWHERE_WEIGHT * len(stems & passage.stems)) / len(stems)


def _check_cover(prose: Prose, passage: Passage, names: Sequence[tuple[str, ...]], finding: Finding) -> None:
    values = prose.values
    rest = prose.stems - english().stems(" ".join(part for name in names for part in name)) - english().data_stems
    share = cover(rest, passage)
    checked = sum(map(len, (values.votes, values.days, names, values.numbers, *map(words, prose.quotes))))
    if rest and not finding.wrong:
        # values, names and quotations that the passage has are told too
        share = (share * len(rest) + checked) / (len(rest) + checked)
    if prose.is_foreign:
        finding.weak.append(passage.gettext("{source} is in another language"))
    elif share < FLAGGED_BELOW and rest:
        # that something is not so stands in no source
        is_denial = english().is_negated(prose.words)
        (finding.weak if is_denial else finding.wrong).append(passage.gettext("{source} says nothing like it"))
    elif share < PLAUSIBLE_BELOW:
        finding.weak.append(passage.gettext("{source} says only a part of it"))
