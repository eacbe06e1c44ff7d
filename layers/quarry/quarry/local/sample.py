"""The sample data: invented, written for Quarry, loaded by `quarry sample` and `quarry demo`.

Its vectors are included, keyed by the hash of the text they were made from, so that a first start does not wait for the
embedding model. A text that has changed is embedded.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from quarry import catalog
from quarry.collections.apply import check_rows
from quarry.models.interface import EmbeddingModel
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.platform.tables import LoadableTable
from quarry.postgres.embed import embed_pending, remember_model
from quarry.postgres.load import analyze, load_file
from quarry.postgres.migrate import sql_directory
from quarry.postgres.pool import Database

VECTORS_FILE = "vectors.npz"


class ShippedVectors:
    """An embedding model that has the vectors of some texts in a file, and asks `model` for the others."""

    def __init__(self, model: EmbeddingModel, path: Path) -> None:
        self._model = model
        self._path = path
        self._vectors: dict[int, NDArray[np.float16]] | None = None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    def windows(self, text: str) -> list[str]:
        return self._model.windows(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        known = self._known()
        missing = [text for text in texts if text_key(text) not in known]
        made = dict(zip(missing, await self._model.embed(missing), strict=True)) if missing else {}
        return [made[text] if text in made else known[text_key(text)].astype(float).tolist() for text in texts]

    async def close(self) -> None:
        await self._model.close()

    def _known(self) -> dict[int, NDArray[np.float16]]:
        if self._vectors is None:
            self._vectors = {}
            if self.name == LOCAL_EMBEDDING_MODEL and self._path.exists():
                with np.load(self._path) as file:
                    self._vectors = dict(zip(file["keys"].tolist(), file["vectors"], strict=True))
        return self._vectors


def text_key(text: str) -> int:
    """The first 64 bits of the text's SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def sample_directory() -> Path:
    return sql_directory() / "sample"


def sample_domains() -> list[str]:
    """The domains that have sample data."""
    return sorted(path.name for path in sample_directory().iterdir() if path.is_dir())


async def load_sample(
    database: Database,
    url: str,
    model: EmbeddingModel,
    *,
    rows_max: int = 0,
    on_step: Callable[[str], None] = lambda step: None,
) -> list[str]:
    """Load and embed the sample data of each domain that does not have it yet; return the domains that were loaded."""
    loaded: list[str] = []
    async for domain, sha256 in _not_loaded(database):
        for table, path in _files(domain):
            on_step(f"loading {table.name}")
            load_file(url, table, path, schema=database.schema, check=partial(check_rows, rows_max=rows_max))
            analyze(url, table.name, schema=database.schema)
        shipped = ShippedVectors(model, sample_directory() / domain / VECTORS_FILE)
        await _embed(database, url, shipped, domain, on_step)
        await database.execute(
            """insert into loaded_samples (domain, sha256) values (%s, %s)
               on conflict (domain) do update set sha256 = excluded.sha256, loaded_at = excluded.loaded_at""",
            [domain, sha256],
        )
        loaded.append(domain)
    return loaded


async def write_vectors(model: LocalEmbedding, texts: Sequence[str], path: Path) -> None:
    """Write the vectors of `texts` (embedded windows) to `path`; the same texts on the same machine give the same bytes."""
    keys = sorted({text_key(text): text for text in texts}.items())
    vectors = np.array(await model.embed([text for _, text in keys]), dtype=np.float16)
    np.savez(path, keys=np.array([key for key, _ in keys], dtype=np.uint64), vectors=vectors)


async def _not_loaded(database: Database) -> AsyncIterator[tuple[str, str]]:
    rows = await database.rows("select domain, sha256 from loaded_samples")
    known = {row["domain"]: row["sha256"] for row in rows}
    for domain in sample_domains():
        digest = hashlib.sha256()
        for _, path in _files(domain):
            digest.update(path.read_bytes())
        if known.get(domain) != digest.hexdigest():
            yield domain, digest.hexdigest()


def _files(domain: str) -> list[tuple[LoadableTable, Path]]:
    directory = sample_directory() / domain
    paths = ((table, directory / f"{table.name}.jsonl") for table in catalog.LOADABLE.values())
    return [(table, path) for table, path in paths if path.exists()]


async def _embed(
    database: Database, url: str, model: EmbeddingModel, domain: str, on_step: Callable[[str], None]
) -> None:
    await remember_model(database, model)
    for table, _ in _files(domain):
        if table.name in catalog.EMBEDDED:
            on_step(f"embedding {table.name}")
            await embed_pending(database, model, catalog.EMBEDDED[table.name])
            analyze(url, catalog.EMBEDDED[table.name].embeddings, schema=database.schema)
