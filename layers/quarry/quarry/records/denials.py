"""Sentences that say no more than that the sources do not answer: they cite nothing, for nothing in a source says so."""

from __future__ import annotations

import re

from quarry.language.sentences import sentence_spans

_SOURCES = r"(?:records?|sources?|documents?|passages?|excerpts?|texts?|materials?)"
_TELL = (
    "answer|say|state|mention|specify|tell|give|contain|include|provide|indicate|record|address|cover|discuss|name|"
    "describe|explain"
)
_TOLD = (
    "answered|said|stated|mentioned|specified|told|given|found|contained|included|provided|indicated|recorded|addressed|"
    "covered|discussed|named|described|explained|available"
)
_NEAR = r"[^.;:,]{0,40}?"
_TELLS_NOTHING = re.compile(
    rf"\b{_SOURCES}\b{_NEAR}\b(?:(?:do|does|did|could)(?:\s+not|n['’]t)|cannot|can['’]t)\s+(?:\w+\s+){{0,2}}?(?:{_TELL})\b"
    rf"|\bnot\s+(?:\w+\s+){{0,2}}?(?:{_TOLD})\b{_NEAR}\b(?:in|by|among|from)\s+(?:\w+\s+){{0,2}}?{_SOURCES}\b"
    rf"|^(?:none\s+of\s+the|no)\s+(?:\w+\s+)?{_SOURCES}\b{_NEAR}\b(?:{_TELL})s?\b"
    rf"|^there\s+(?:is|are|was|were)\s+(?:no|nothing)\b{_NEAR}\b(?:in|among)\s+(?:\w+\s+){{0,2}}?{_SOURCES}\b"
    r"|^(?:this|that|it|(?:the|your)\s+question)\s+(?:is\s+not|isn['’]t|was\s+not|cannot\s+be|can['’]t\s+be)\s+(?:\w+\s+)?answered\b"
    r"|^(?:not\s+answered|unanswered)\b",
    re.IGNORECASE,
)
_TELLS_MORE = re.compile(
    r"\b(?:but|however|though|although|while|whereas|only|instead|yet|except|rather)\b|[;:—]|, (?:they|it)\b",
    re.IGNORECASE,
)
"""What may lead over to something that a source does say."""
_DENIES = re.compile(r"\b(?:not|no|none|nothing|cannot|unanswered)\b|n['’]t\b", re.IGNORECASE)
"""What such a sentence has at least: quick to see."""
_BEGINNING = re.compile(r"^\W+")


def ends_in_denial(text: str) -> bool:
    """Whether the last sentence of a text says that the sources do not answer or mention something, and nothing that one of them
    says.
    """
    if not _DENIES.search(text):
        return False
    start, end = sentence_spans(text)[-1]
    said = _BEGINNING.sub("", text[start:end])
    denied = _TELLS_NOTHING.search(said)
    return denied is not None and not _TELLS_MORE.search(said, denied.end())
