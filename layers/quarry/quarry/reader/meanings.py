"""How near words of a question are in meaning to the names of fields and sources, by the local embedding model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from quarry.language.word_forms import STOP_WORDS
from quarry.reader.mentions import Mentions
from quarry.reader.names import FieldName, Names, SourceName

if TYPE_CHECKING:
    from quarry.models.local_embedding import Array, MiniLM

WORDS_MAX = 10
"""How many words and pairs of words of a question to compare."""
UNRELATED = 0.3
"""The cosine of words that have nothing to do with each other."""
Named = FieldName | SourceName


class Meanings:
    """Compares words with names. The vectors of names and words are kept; threads may share it."""

    def __init__(self, network: MiniLM) -> None:
        self._network = network
        self._vectors: dict[str, Array] = {}

    def nearness(self, mentions: Mentions, names: Names) -> Mapping[Named, float]:
        """How near the words that name nothing are to each name of a field or source, from 0 to 1; without those at 0."""
        import numpy as np

        words = _words(mentions)
        if not words:
            return {}
        said = np.array(self._of(words))
        found: dict[Named, float] = {}
        for source in names.sources.values():
            every: list[Named] = [source, *source.columns]
            cosines = said @ np.array(self._of([_text(each) for each in every])).T
            for each, best in zip(every, cosines.max(axis=0).tolist(), strict=True):
                if best > UNRELATED:
                    found[each] = (best - UNRELATED) / (1 - UNRELATED)
        return found

    def _of(self, texts: Sequence[str]) -> list[Array]:
        """The unit vectors of texts; all new ones in one run of the network."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            encoded = [self._network.tokenizer.encode(text) for text in new]
            means = self._network.means([(pieces, len(pieces)) for pieces in encoded])
            self._vectors.update({text: mean / (mean @ mean) ** 0.5 for text, mean in zip(new, means, strict=True)})
        return [self._vectors[text] for text in texts]


def _words(mentions: Mentions) -> list[str]:
    """The words that name nothing and could, alone and in pairs."""
    tokens, free = mentions.tokens, set(mentions.free)
    telling = [place for place in mentions.free if tokens[place].key.isalpha() and tokens[place].key not in STOP_WORDS]
    alone = [tokens[place].key for place in telling]
    pairs = [
        f"{tokens[one].key} {tokens[two].key}"
        for one, two in pairwise(sorted(free))
        if two == one + 1 and {one, two} & {*telling}
    ]
    return [*dict.fromkeys([*alone, *pairs])][:WORDS_MAX]


def _text(each: Named) -> str:
    return each.name.rpartition(".")[2].replace("_", " ")
