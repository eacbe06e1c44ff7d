"""English nouns by their endings: one of them, and several."""

from __future__ import annotations

import re

_ONE_OF = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"))


_DOER = re.compile(
    r"(?!.*(?:number|order|letter|paper|colou?r|floor|folder|offer|tier|layer|center|motor|sector|vector|factor|register|chapter|"
    r"water|power|summer|winter|computer|(?<!ob)server|river|matter|career|tower|user)$)[a-z]{2,}(?:er|or|ee|ist|ian|ant)"
)


def names_doer(noun: str) -> bool:
    """Whether a noun, in lower case, is by its ending one for somebody who does something ("reviewer", "plumber")."""
    return _DOER.fullmatch(noun) is not None


def singular(noun: str) -> str:
    """A noun, or the last of several words, without its plural's ending, as tables are named."""
    for ending, instead in _ONE_OF:
        if noun.endswith(ending) and len(noun) > len(ending) + 1:
            return noun[: -len(ending)] + instead
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def plural(noun: str) -> str:
    """A noun, or the last of several words, with its plural's ending; one that has it stays."""
    if noun.endswith("s") and singular(noun) != noun:
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def is_plural(noun: str) -> bool:
    """Whether a noun, in lower case, is by its ending several."""
    return noun.endswith("s") and plural(singular(noun)) == noun
