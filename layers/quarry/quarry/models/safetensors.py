"""Reads files of tensors in the safetensors format, without the package of that name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

SAFETENSORS_MAX_HEADER_BYTES = 100_000_000
_NUMBERS = {"F32": "<f4", "F16": "<f2"}


def read_safetensors(path: Path) -> dict[str, Array]:
    """The float32 and float16 tensors of a safetensors file by name, as read-only views of the file mapped into memory.

    The format: 8 bytes with the length of the header; the header, JSON, with type, shape and extent of each tensor, in
    bytes from the header's end; the numbers, row by row. All little-endian. Raises OSError, ValueError or KeyError.
    """
    import numpy as np

    with path.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        # A file that is something else, such as a Git LFS pointer, gives an absurd length here.
        if header_bytes > SAFETENSORS_MAX_HEADER_BYTES:
            raise ValueError(f"{path} is not a safetensors file")
        header = json.loads(file.read(header_bytes))
    # Mapped, not read: of the 47 MB of word vectors, only the pages with words that occur are ever fetched.
    data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r", offset=8 + header_bytes))
    return {
        name: data[slice(*entry["data_offsets"])].view(_NUMBERS[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") in _NUMBERS
    }
