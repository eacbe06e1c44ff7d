"""Writes the stems of everyday English words: `python -m tools.word_list AMERICAN BRITISH`.

The arguments are word lists of SCOWL at size 35, one word per line, such as Debian's wamerican-small and wbritish-small. The
result is kept in the repository. Names, capitalised in these lists, are left out: a question's names come from the data.
"""

from __future__ import annotations

import sys
from pathlib import Path

from quarry.language.word_forms import stem, without_accents

DATA = Path(__file__).resolve().parents[1] / "layers" / "quarry" / "quarry" / "language" / "data"
LICENCE = """\
# Stems of English words, from SCOWL at size 35. Copyright 2000-2011 Kevin Atkinson. Permission to use, copy, modify,
# distribute and sell these word lists is granted without fee, provided that this notice appears in all copies; provided
# "as is", without warranty."""


def main() -> None:
    """Writes the list from the files on the command line."""
    lines = [line for path in sys.argv[1:] for line in Path(path).read_text().splitlines()]
    words = {without_accents(line) for line in lines if line.islower() and not line.endswith("'s")}
    stems = sorted({stem(word) for word in words if word.isalpha() and len(word) > 1})
    (DATA / "words.txt").write_text("\n".join([LICENCE, *stems]) + "\n")


if __name__ == "__main__":
    main()
