"""The text of an answer without a model: the companies that fit, in the words of their profiles, and what is missing. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from quarry.companies.contract import Company
from quarry.companies.prompts import SummaryEntry, SummaryInputs
from quarry.companies.snippets import STAGE_LABELS, home, inline_description, with_former_names

NAMED_MAX = 4
SURE = 0.6
UNHEARD_MAX = 3

ONLY_STARTUPS = "Only startups were searched."
CUT_SHORT = "\n\nThe search was cut short by its limits: there may be others that fit, or fit better."
BROKEN_OFF = "\n\nThe answer broke off here. From the profiles themselves: "


def summary_by_rule(inputs: SummaryInputs) -> Iterator[str]:
    """The sentences of the answer, one by one."""
    if not inputs.entries:
        yield nothing_found(inputs)
        return
    if inputs.exact:
        yield from _named_outright(inputs.entries, ambiguous=inputs.ambiguous)
        return
    for sentence in inputs.missing:
        yield f"{sentence[0].upper()}{sentence[1:]}. "
    best, *others = inputs.entries
    yield _lead(inputs, best)
    for sentence in _others(others):
        yield f" {sentence}"
    if shared := _shared(inputs.entries):
        yield f" {shared}"
    if not _fits(best):
        yield f" {_doubt(inputs)}"
    if inputs.only_startups:
        yield f" {ONLY_STARTUPS}"


def nothing_found(inputs: SummaryInputs) -> str:
    """Says that no company fits, what each condition rules out, and which companies come near."""
    none = "None of these companies fits" if inputs.cut_short else "No company here fits"
    text = f"{none} this question"
    # where a word alone rules them out, there may be companies that meet each condition
    demands = [] if inputs.unheard else inputs.demands
    text += f" and all that it demands: {'; '.join(demands)}." if demands else "."
    missing = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in inputs.missing]
    costs = [
        f"“{label}”, {rows:,} {'company is' if rows == 1 else 'companies are'} left"
        for label, rows in inputs.relaxations
        if rows
    ]
    if costs and demands:
        missing.append(f"Without {'; without '.join(costs)}.")
    if inputs.unheard:
        missing.append(f"{_no_profile_mentions(inputs.unheard).replace('no', 'No', 1)}.")
    text = " ".join([text, *missing, *([ONLY_STARTUPS] if inputs.only_startups else [])])
    if inputs.near:
        near = [
            f"{company.company_name} ({'; '.join(map(_unmet, unmet))})" if unmet else company.company_name
            for company, unmet in inputs.near
        ]
        return f"{text} The nearest{'' if inputs.near[0][1] else ' in meaning'} are {'; '.join(near)}."
    return f"{text} Other words, or fewer, may find one."


def _unmet(label: str) -> str:
    """The opposite of a label: "not in Germany" for "in Germany", and the reverse."""
    return label.removeprefix("not ") if label.startswith("not ") else f"not {label}"


def _named_outright(entries: Sequence[SummaryEntry], *, ambiguous: bool) -> Iterator[str]:
    if ambiguous:
        yield f"{len(entries)} companies go by this name. "
    for place, entry in enumerate(entries):
        yield f"{' ' if place else ''}{portrait(entry.company)}"


def portrait(company: Company) -> str:
    """A company in two or three sentences: status, place, what it does, and former names."""
    known = [
        _state(company),
        f"from {home(company)}" if home(company) else "",
        _founding(company),
        f"with {company.employee_count:,} employees" if company.employee_count else "",
        f"at the stage {STAGE_LABELS[company.funding_stage]}" if company.funding_stage else "",
    ]
    sentences = [
        f"{company.company_name} {', '.join(part for part in known if part)}.",
        inline_description(company).rstrip("."),
    ]
    if sentences[1]:
        sentences[1] += "."
    former = [f"Formerly {' and '.join(company.former_names)}."] if company.former_names else []
    return " ".join(sentence for sentence in [*sentences, *former] if sentence)


def _founding(company: Company) -> str:
    sentences = [
        f"in {company.founded_year}" if company.founded_year else "",
        f"by {' and '.join(company.founders)}" if company.founders else "",
    ]
    return f"founded {' '.join(filter(None, sentences))}" if any(sentences) else ""


def _state(company: Company) -> str:
    match company.status:
        case "startup":
            return "is a startup"
        case "public":
            return "is a public company"
        case "acquired":
            return f"was acquired by {company.acquirer}" if company.acquirer else "was acquired"
        case "closed":
            return f"closed in {company.closed_year}" if company.closed_year else "has closed"


def _lead(inputs: SummaryInputs, best: SummaryEntry) -> str:
    company = best.company
    line = inline_description(company).rstrip(".")
    if inputs.seed:
        return f"{company.company_name} is the most like {with_former_names(inputs.seed)}: {line}."
    return f"{company.company_name} {'fits best' if _fits(best) else 'comes nearest'}: {line}."


def _fits(entry: SummaryEntry) -> bool:
    return entry.confidence >= SURE


def _doubt(inputs: SummaryInputs) -> str:
    """Says that the match is unsure, and which words of the question no profile contains."""
    subject = "None of them is" if len(inputs.entries) > 1 else "It is not"
    text = f"{subject} a sure match"
    if inputs.unheard and not inputs.seed:
        return f"{text}: {_no_profile_mentions(inputs.unheard)}."
    return f"{text}; other words may find a better one."


def _no_profile_mentions(words: Sequence[str]) -> str:
    return f"no profile here mentions {' or '.join(f'“{word}”' for word in words[:UNHEARD_MAX])}"


def _others(others: Sequence[SummaryEntry]) -> Iterator[str]:
    """Names the others: those that fit, and those that only come near."""
    for fits, one, several in ((True, "fits", "fit"), (False, "comes near", "come near")):
        if names := [entry.company.company_name for entry in others if _fits(entry) is fits]:
            yield f"{_listed(names)} {one if len(names) == 1 else several} too."


def _listed(names: Sequence[str]) -> str:
    shown = [*names] if len(names) <= NAMED_MAX else [*names[:NAMED_MAX], f"{len(names) - NAMED_MAX} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _shared(entries: Sequence[SummaryEntry]) -> str:
    """The sector that most of the companies share; empty if there is none."""
    if len(entries) < 2:
        return ""
    [(sector, count), *_] = Counter(name for entry in entries for name in entry.company.sectors).most_common(1) or [
        ("", 0)
    ]
    if count == len(entries):
        return f"All are in {sector}."
    return f"{count} of the {len(entries)} are in {sector}." if count > len(entries) / 2 else ""
