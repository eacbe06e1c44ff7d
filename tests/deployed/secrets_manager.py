"""AWS Secrets Manager on a loopback port, for functions' processes: moto's, behind the one call that they make."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
from moto import mock_aws

REGION = "us-east-1"


class SecretsManager(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.client: Any = boto3.client(
            "secretsmanager", REGION, aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        self.asked: list[str] = []
        """The secrets that were asked for, in order."""
        self.answers: dict[str, bytes] = {}
        """What is answered for each secret by its ARN, made when it is put: who asks waits two seconds at most."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def put(self, name: str, text: str) -> None:
        """Create the secret, or rotate it."""
        try:
            self.client.put_secret_value(SecretId=name, SecretString=text)
        except self.client.exceptions.ResourceNotFoundException:
            self.client.create_secret(Name=name, SecretString=text)
        secret = self.client.get_secret_value(SecretId=name)
        told = {key: secret[key] for key in ("ARN", "Name", "SecretString")}
        self.answers[secret["ARN"]] = json.dumps(told).encode()

    def arn(self, name: str) -> str:
        arn: str = self.client.describe_secret(SecretId=name)["ARN"]
        return arn


class _Handler(BaseHTTPRequestHandler):
    server: SecretsManager

    def do_POST(self) -> None:
        assert self.headers["X-Amz-Target"] == "secretsmanager.GetSecretValue"
        arn = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["SecretId"]
        self.server.asked.append(arn)
        body = self.server.answers[arn]
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests speak."""


@contextmanager
def secrets_manager() -> Iterator[SecretsManager]:
    with mock_aws(), SecretsManager() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
