"""Files in Amazon S3, downloaded before they are read, since a slow reader would lose the connection."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from quarry.files.records import UnreadableFile
from quarry.platform.errors import ConfigurationError, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

SCHEME = "s3://"
CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0

_MISSING = {"NoSuchKey", "NoSuchBucket", "404"}


@dataclass(frozen=True)
class S3Object:
    """One object of a bucket."""

    bucket: str
    key: str

    @classmethod
    def parse(cls, address: str) -> S3Object:
        """Parse `s3://BUCKET/KEY`. Raises ValueError for any other address."""
        bucket, _, key = address.removeprefix(SCHEME).partition("/")
        if not (address.startswith(SCHEME) and bucket and key) or key.endswith("/"):
            raise ValueError(f"{address!r} is not the address of an object: {SCHEME}BUCKET/KEY")
        return cls(bucket, key)

    @property
    def name(self) -> str:
        return PurePosixPath(self.key).name

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


def fetch(source: S3Object, file: BinaryIO) -> Mapping[str, str]:
    """Write an object to `file` from its start; return its metadata.

    Raises UnreadableFile if it does not exist, Unavailable if S3 cannot be reached, ConfigurationError without boto3.
    """
    with _answered(source) as client:
        response = client.get_object(Bucket=source.bucket, Key=source.key)
        shutil.copyfileobj(response["Body"], file)
        file.seek(0)
        return response["Metadata"]


def read_text(source: S3Object) -> str | None:
    """The text of a small object, None if it does not exist. Raises Unavailable, ConfigurationError."""
    try:
        with _answered(source) as client:
            return client.get_object(Bucket=source.bucket, Key=source.key)["Body"].read().decode()
    except UnreadableFile:
        return None


def write_text(target: S3Object, text: str, media_type: str) -> None:
    """Write a text. Raises Unavailable, ConfigurationError."""
    with _answered(target) as client:
        client.put_object(Bucket=target.bucket, Key=target.key, Body=text.encode(), ContentType=media_type)


@contextmanager
def _answered(object_: S3Object) -> Iterator[S3Client]:
    # boto3 takes a quarter of a second of processor time, and only what reads from S3 needs it
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
    except ImportError:
        raise ConfigurationError("Files in S3 need boto3, which is not installed: pip install boto3") from None
    config = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries={"total_max_attempts": 3})
    try:
        yield boto3.client("s3", config=config)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _MISSING:
            raise UnreadableFile(f"{object_}: there is no such object") from error
        raise Unavailable(f"{object_} cannot be read: {error}") from error
    except BotoCoreError as error:
        raise Unavailable(f"{object_} cannot be read: {error}") from error
