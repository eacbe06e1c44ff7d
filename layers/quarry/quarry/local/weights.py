"""`quarry weights`: the files of the local embedding model, fetched once for all installations of one user.

From where the model was published, over HTTPS; a file is kept only where it has the hash that is written here.
"""

from __future__ import annotations

import hashlib
import urllib.request
from pathlib import Path
from urllib.error import URLError

from quarry.core.errors import ModelUnavailable
from quarry.core.model.local_embedding import WEIGHTS_SHA256, LocalEmbedding, fetched_weights
from quarry.local.terminal import progress_bar

SOURCE = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main"
# the weights last: where they are, the model is whole
FILES = {
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "model.safetensors": WEIGHTS_SHA256,
}
CHUNK_BYTES = 1 << 20
QUIET_SECONDS = 30.0
"""A source that says nothing for so long is given up."""


def install_weights() -> None:
    """Fetch the weights where there are none, and say where they are. Raises ModelUnavailable and OSError."""
    if LocalEmbedding.available():
        print("the weights are installed")
        return
    fetch_weights(SOURCE, fetched_weights())
    print(f"fetched the weights into {fetched_weights()}")


def fetch_weights(source: str, folder: Path) -> None:
    """Fetch the model's files from `source`, an address without a slash at its end. Raises ModelUnavailable and OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, sha256 in FILES.items():
        part = folder / f"{name}.part"
        try:
            found = _fetch(f"{source}/{name}", part)
        except URLError as error:
            raise ModelUnavailable(f"The weights cannot be fetched from {source}: {error.reason}.") from error
        if found != sha256:
            part.unlink()
            raise ModelUnavailable(f"{source}/{name} is not the official file: its sha256 is {found}, not {sha256}.")
        part.rename(folder / name)


def _fetch(url: str, path: Path) -> str:
    """Write what is at the address to `path`; its SHA-256."""
    digest = hashlib.sha256()
    with urllib.request.urlopen(url, timeout=QUIET_SECONDS) as response, path.open("wb") as file:  # noqa: S310
        length = response.headers.get("Content-Length")
        with progress_bar(path.stem, int(length) if length else None, of_bytes=True) as bar:
            while chunk := response.read(CHUNK_BYTES):
                digest.update(chunk)
                file.write(chunk)
                bar.advance(len(chunk))
    return digest.hexdigest()
