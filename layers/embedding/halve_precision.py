"""Turn the float32 numbers of a safetensors file into float16, in place.

The standard library does: nothing is to be installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("sha256", help="of the file as it must be")
    arguments = parser.parse_args()
    content = arguments.file.read_bytes()
    if hashlib.sha256(content).hexdigest() != arguments.sha256:
        parser.error(f"{arguments.file} is not the file that was named")
    # a new file: pip may have linked the other to its cache
    arguments.file.unlink()
    arguments.file.write_bytes(halved(content))


def halved(content: bytes) -> bytes:
    """The same tensors with each F32 as F16; others as they are. Raises OverflowError for a number beyond 65,504."""
    header_bytes = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + header_bytes])
    entries = sorted(
        ((name, entry) for name, entry in header.items() if name != "__metadata__"),
        key=lambda each: each[1]["data_offsets"],
    )
    data = bytearray()
    for _, entry in entries:
        first, last = (8 + header_bytes + offset for offset in entry["data_offsets"])
        numbers = content[first:last]
        if entry["dtype"] == "F32":
            count = len(numbers) // 4
            numbers = struct.pack(f"<{count}e", *struct.unpack(f"<{count}f", numbers))
            entry["dtype"] = "F16"
        entry["data_offsets"] = [len(data), len(data) + len(numbers)]
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    # the format wants the numbers to begin at a multiple of eight, behind blanks
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


if __name__ == "__main__":
    main()
