"""The runtime of a Lambda function that streams, started by `exec-wrapper`: the official runtime client, extended to stream a
result.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import sys
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from awslambdaric import bootstrap
from awslambdaric.lambda_config import LambdaConfigProvider
from awslambdaric.lambda_runtime_client import LambdaRuntimeClient
from awslambdaric.lambda_runtime_marshaller import LambdaMarshaller

from quarry.web.streamed_response import StreamedResponse

REPLY_SECONDS = 2.0
"""How long Lambda may take to confirm the response."""

_ERROR_TYPE = "Lambda-Runtime-Function-Error-Type"
_ERROR_BODY = "Lambda-Runtime-Function-Error-Body"

# not __name__, which is __main__ here
logger = logging.getLogger("quarry.web.lambda_stream")


class _Marshaller(LambdaMarshaller):  # type: ignore[misc]
    def marshal_response(self, response: Any) -> Any:
        """The result to send, and its content type."""
        if isinstance(response, StreamedResponse):
            return response, response.media_type
        return super().marshal_response(response)


class StreamingRuntimeClient(LambdaRuntimeClient):  # type: ignore[misc]
    """The official client, which also sends a StreamedResponse piece by piece."""

    marshaller = _Marshaller()

    def post_invocation_result(
        self,
        invoke_id: str,
        result_data: Any,
        content_type: str = "application/json",
        invocation_id: str | None = None,
    ) -> None:
        if not isinstance(result_data, StreamedResponse):
            super().post_invocation_result(invoke_id, result_data, content_type, invocation_id)
            return
        headers = {"Content-Type": content_type}
        if invocation_id:
            headers["Lambda-Runtime-Invocation-Id"] = invocation_id
        result_data.loop.run_until_complete(_post(self.lambda_runtime_address, invoke_id, result_data, headers))


async def _post(address: str, invoke_id: str, response: StreamedResponse, headers: dict[str, str]) -> None:
    """Send the response piece by piece. If the connection breaks, the work on it ends, and the next invocation can start."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port or 80))
    try:
        prelude = _chunk(response.prelude) if response.prelude else b""  # an empty chunk would be the end
        writer.write(_head(address, invoke_id, headers) + prelude)
        error = await _send_body(writer, response)
        writer.write(b"0\r\n" + _error_trailers(error) + b"\r\n")
        async with asyncio.timeout(REPLY_SECONDS):
            status = (await reader.readline()).split()[1:2]
        if status != [str(HTTPStatus.ACCEPTED.value).encode()]:
            logger.error("Lambda did not accept the response: %s", status)
    except OSError as broken:
        logger.warning("the connection for the response broke: %s", type(broken).__name__)
    finally:
        await response.body.aclose()
        writer.close()


async def _send_body(writer: asyncio.StreamWriter, response: StreamedResponse) -> Exception | None:
    """Send the body; return what the application raised after its first bytes. Raises OSError if the connection breaks."""
    while True:
        try:
            piece = await anext(response.body, None)
        except Exception as error:
            logger.exception("a response broke off")
            return error
        if piece is None:
            return None
        writer.write(_chunk(piece))
        async with asyncio.timeout_at(response.latest):
            await writer.drain()


def _head(address: str, invoke_id: str, headers: dict[str, str]) -> bytes:
    all_headers = headers | {
        "Host": address,
        "Lambda-Runtime-Function-Response-Mode": "streaming",
        "Transfer-Encoding": "chunked",
        "Trailer": f"{_ERROR_TYPE}, {_ERROR_BODY}",
    }
    lines = [f"POST /2018-06-01/runtime/invocation/{invoke_id}/response HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in all_headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _error_trailers(error: Exception | None) -> bytes:
    if error is None:
        return b""
    name = type(error).__name__
    body = base64.b64encode(json.dumps({"errorType": name, "errorMessage": str(error)}).encode()).decode()
    return f"{_ERROR_TYPE}: {name}\r\n{_ERROR_BODY}: {body}\r\n".encode()


def main(arguments: Sequence[str]) -> None:
    """Serve invocations with the handler `module.function` that the first argument names."""
    config = LambdaConfigProvider(arguments)
    client = StreamingRuntimeClient(config.api_address, config.use_thread_polling)
    bootstrap.run(config.handler, client)


if __name__ == "__main__":
    main(sys.argv)
