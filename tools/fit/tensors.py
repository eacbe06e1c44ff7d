"""Writes files of tensors in the format that `read_safetensors` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def write_half(path: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes tensors in half precision."""
    header: dict[str, Any] = {}
    data = b""
    for name, tensor in tensors.items():
        half = np.ascontiguousarray(tensor, dtype=np.float16).tobytes()
        header[name] = {"dtype": "F16", "shape": [*tensor.shape], "data_offsets": [len(data), len(data) + len(half)]}
        data += half
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
