"""Texts that are the same for every client, with an ETag and, where the client supports it, compressed."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fastapi import Request
from starlette.responses import Response

ETAG_LENGTH = 12

KEPT_FOR_GOOD = "public, max-age=31536000, immutable"
ASKED_FOR_EACH_TIME = "no-cache"


@dataclass(frozen=True)
class TextFile:
    """A text and its media type."""

    body: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        # weak: the same file is sent compressed or not
        return f'W/"{hashlib.sha256(self.body).hexdigest()[:ETAG_LENGTH]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, mtime=0)


def text_response(
    request: Request, file: TextFile, cache_control: str, headers: Mapping[str, str] | None = None
) -> Response:
    """The text, or a 304 if the client has it."""
    all_headers = {"Cache-Control": cache_control, "ETag": file.etag, "Vary": "Accept-Encoding", **(headers or {})}
    if _has(request, file):
        return Response(status_code=304, headers=all_headers)
    if _takes_gzip(request):
        return Response(file.compressed, headers=all_headers | {"Content-Encoding": "gzip"}, media_type=file.media_type)
    return Response(file.body, headers=all_headers, media_type=file.media_type)


def _has(request: Request, file: TextFile) -> bool:
    # weak comparison (RFC 9110, 13.1.2): a proxy may remove W/ from a tag, or split the list
    listed = ",".join(request.headers.getlist("if-none-match"))
    known = {tag.strip().removeprefix("W/") for tag in listed.split(",")}
    return "*" in known or file.etag.removeprefix("W/") in known


def _takes_gzip(request: Request) -> bool:
    """Whether the client takes gzip. A buffered Lambda response is text, and cannot be compressed."""
    return "gzip" in request.headers.get("accept-encoding", "") and "aws.event" not in request.scope
