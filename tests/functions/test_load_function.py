"""The function that loads files from the stack's bucket, with moto's S3, and `quarry load s3://…`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import boto3
import psycopg
import pytest
from aws_lambda_powertools.utilities.batch.exceptions import BatchProcessingError
from moto import mock_aws

from quarry.local.cli.commands import _file
from quarry.local.data import fetched
from quarry.platform.errors import Unavailable
from quarry.services.s3 import S3Object
from tests.functions.conftest import Context

Load = Callable[[str], ModuleType]

BUCKET = "quarry-data"


@pytest.fixture
def s3(lambda_environment: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        lambda_environment.setenv(name, "testing")
    lambda_environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client


@pytest.fixture
def load(s3: Any, queue: ModuleType) -> Callable[..., Any]:
    """Sends the function the event of an object; the report beside it."""
    handler = queue.handler

    def tell(key: str, sequencer: str = "0064D3901D00059242") -> Any:
        assert handler({"Records": [message("m-1", key, sequencer)]}, Context(900_000)) == {"batchItemFailures": []}
        return {} if key.endswith(".report.json") else report(s3, key)

    return tell


@pytest.fixture
def queue(load_function: Load, lambda_environment: pytest.MonkeyPatch, database_url: str) -> ModuleType:
    lambda_environment.setenv("DATABASE_URL", database_url)
    return load_function("load")


def message(id: str, key: str, sequencer: str = "0064D3901D00059242") -> dict[str, Any]:
    """What the queue tells of an object."""
    event = {"detail": {"bucket": {"name": BUCKET}, "object": {"key": key, "sequencer": sequencer}}}
    return {
        "messageId": id,
        "body": json.dumps(event),
        "attributes": {"MessageGroupId": "loads"},
        "eventSource": "aws:sqs",
    }


def matter(title: str) -> bytes:
    return json.dumps({"id": "a", "title": title}).encode() + b"\n"


def titles(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [title for (title,) in connection.execute("select title from matters order by id").fetchall()]


def report(s3: Any, key: str) -> Any:
    return json.loads(s3.get_object(Bucket=BUCKET, Key=f"{key}.report.json")["Body"].read())


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("matters/a.jsonl", matter("Bridge")),
        ("matters/2026/a b+ü.csv.gz", gzip.compress(b"id,title\na,Bridge\n", mtime=0)),
    ],
)
def test_a_file_is_loaded_into_the_table_at_the_start_of_its_key(
    s3: Any, load: Callable[..., Any], database_url: str, key: str, content: bytes
) -> None:
    s3.put_object(Bucket=BUCKET, Key=key, Body=content)
    done = load(key)
    assert (done["status"], done["rows"], done["changed"], done["problems"]) == ("loaded", 1, 1, [])
    assert titles(database_url) == ["Bridge"]
    assert report(s3, key) == done
    assert load(f"{key}.report.json") == {}


def test_wrong_rows_are_reported_and_reject_their_file_unless_its_metadata_allows_them(
    s3: Any, load: Callable[..., Any], database_url: str
) -> None:
    content = matter("Bridge") + b'{"id": "b"}\n' * 30
    s3.put_object(Bucket=BUCKET, Key="matters/a.jsonl", Body=content)
    refused = load("matters/a.jsonl")
    assert (refused["status"], refused["wrong_rows"], len(refused["problems"])) == ("refused", 30, 30)
    assert refused["problems"][0]["line"] == 2
    assert titles(database_url) == []
    s3.put_object(Bucket=BUCKET, Key="matters/a.jsonl", Body=content, Metadata={"skip-invalid": "true"})
    assert load("matters/a.jsonl", "0064D3901D00059243")["skipped"] == 30
    assert titles(database_url) == ["Bridge"]
    for key in ("secrets/a.jsonl", "a.jsonl"):
        s3.put_object(Bucket=BUCKET, Key=key, Body=content)
        load(key)
        assert report(s3, key)["status"] == "refused"


def test_a_repeated_or_late_event_changes_nothing(s3: Any, load: Callable[..., Any], database_url: str) -> None:
    s3.put_object(Bucket=BUCKET, Key="matters/a.jsonl", Body=matter("Bridge"))
    s3.put_object(Bucket=BUCKET, Key="matters/b.jsonl", Body=matter("Park"))
    first = load("matters/a.jsonl", "0064D3901D")
    load("matters/b.jsonl")
    assert load("matters/a.jsonl", "0064d3901d00") == load("matters/a.jsonl", "0064D3901C") == first
    assert titles(database_url) == ["Park"]
    load("matters/a.jsonl", "0064D3901D01")
    assert titles(database_url) == ["Bridge"]


def test_a_database_that_is_down_fails_the_invocation_so_that_it_is_retried(
    s3: Any, queue: ModuleType, lambda_environment: pytest.MonkeyPatch
) -> None:
    lambda_environment.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/quarry")
    s3.put_object(Bucket=BUCKET, Key="matters/a.jsonl", Body=matter("Bridge"))
    with pytest.raises(BatchProcessingError, match="DatabaseUnavailable"):
        queue.handler({"Records": [message("m-1", "matters/a.jsonl")]}, Context(900_000))
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"]] == ["matters/a.jsonl"]


def test_files_from_the_first_that_fails_on_stay_in_the_queue_and_those_before_are_not_loaded_again(
    s3: Any, queue: ModuleType, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("a", "b", "c")
    for name in names:
        row = json.dumps({"id": name, "title": name.upper()}).encode()
        s3.put_object(Bucket=BUCKET, Key=f"matters/{name}.jsonl", Body=row)
    batch = {"Records": [message(f"m-{name}", f"matters/{name}.jsonl") for name in names]}
    fetched_keys: list[str] = []
    fetch = queue.fetch

    def fail_once(source: S3Object, file: Any) -> Any:
        fetched_keys.append(source.name)
        if fetched_keys == ["a.jsonl", "b.jsonl"]:
            raise Unavailable("S3 is away")
        return fetch(source, file)

    monkeypatch.setattr(queue, "fetch", fail_once)
    failed = queue.handler(batch, Context(900_000))
    assert failed == {"batchItemFailures": [{"itemIdentifier": "m-b"}, {"itemIdentifier": "m-c"}]}
    assert titles(database_url) == ["A"]
    assert queue.handler(batch, Context(900_000)) == {"batchItemFailures": []}
    assert titles(database_url) == ["A", "B", "C"]
    assert fetched_keys == ["a.jsonl", "b.jsonl", "b.jsonl", "c.jsonl"]


def test_files_that_no_time_is_left_for_stay_in_the_queue(s3: Any, queue: ModuleType, database_url: str) -> None:
    for name in ("a", "b"):
        s3.put_object(Bucket=BUCKET, Key=f"matters/{name}.jsonl", Body=json.dumps({"id": name, "title": name}).encode())
    batch = {"Records": [message(f"m-{name}", f"matters/{name}.jsonl") for name in ("a", "b")]}

    class Hurrying(Context):
        """Half of whose time is gone after the first file."""

        def get_remaining_time_in_millis(self) -> int:
            return 900_000 if not titles(database_url) else 449_000

    assert queue.handler(batch, Hurrying(0)) == {"batchItemFailures": [{"itemIdentifier": "m-b"}]}
    assert titles(database_url) == ["a"]


def test_the_command_line_takes_objects_and_files(s3: Any, tmp_path: Any) -> None:
    s3.put_object(Bucket=BUCKET, Key="any/a.jsonl", Body=matter("Bridge"))
    with fetched(map(_file, [str(tmp_path), f"s3://{BUCKET}/any/a.jsonl"])) as [local, copied]:
        assert (local, copied.name, copied.read_bytes()) == (tmp_path, "a.jsonl", matter("Bridge"))
    assert not copied.exists()
    with pytest.raises(ValueError, match="the address of an object"):
        S3Object.parse("s3://bucket/folder/")
