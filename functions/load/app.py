"""The Lambda function `load`. A queue tells it, one after another, of the objects put into the stack's bucket: each is loaded as
`quarry load` does, into the table at the start of its key, and the result is written next to it as `KEY.report.json`.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.postgres.load import LoadError, RowProblem, analyze, load_records
from quarry.services.s3 import S3Object, fetch, read_text, write_text
from quarry.services.services import read_database_url
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

REPORT = ".report.json"
SKIP_INVALID = "skip-invalid"
"""An object with `true` under this name in its metadata is loaded without its invalid rows."""

BEGUN_WITH = 0.5
"""The part of the function's time that must be left when a file is begun. One that takes longer than what is left is loaded by
the next invocation, which finds the report of each file before it.
"""

Report = dict[str, Any]

logger = logging.getLogger("quarry.load")


class NoTimeLeft(Exception):
    """The file is left to the next invocation."""


environment = ExecutionEnvironment()


def handler(event: dict[str, Any], context: LambdaContext) -> Mapping[str, Any]:
    """Returns the messages that stay in the queue, in the form that Lambda reads: those from the first file on that could not be
    loaded now, and those that no time is left for. Their order is kept. Raises if none was loaded.
    """

    enough = context.get_remaining_time_in_millis() * BEGUN_WITH

    def load_one(record: Mapping[str, Any]) -> Report:
        if context.get_remaining_time_in_millis() < enough:
            raise NoTimeLeft
        return load(json.loads(record["body"])["detail"])

    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    return process_partial_response(event, load_one, processor)


def load(told: Mapping[str, Any]) -> Report:
    """The report for the object in an EventBridge event; empty if the object is a report itself.

    A repeated event, or one older than another for the same object, changes nothing. Problems in a file go into its report.
    Raises DatabaseUnavailable, and Unavailable if S3 cannot be reached: the event must be delivered again.
    """
    source = S3Object(told["bucket"]["name"], told["object"]["key"])
    if source.key.endswith(REPORT):
        return {}
    place, sequencer = S3Object(source.bucket, source.key + REPORT), told["object"]["sequencer"]
    known: Report = json.loads(read_text(place) or "{}")
    if known and not _is_later(sequencer, known["sequencer"]):
        return known
    report = {"file": str(source), "sequencer": sequencer, **_load(read_database_url(environment.settings), source)}
    write_text(place, json.dumps(report, indent=2, ensure_ascii=False), "application/json")
    logger.info("%s: %s, %s rows", source, report["status"], report.get("rows", 0))
    return report


def _is_later(sequencer: str, than: str) -> bool:
    """Whether S3 orders an event after another for the same object: hexadecimal, trailing zeros may be missing."""
    length = max(len(sequencer), len(than))
    return sequencer.upper().ljust(length, "0") > than.upper().ljust(length, "0")


def _load(url: str, source: S3Object) -> Report:
    table = catalog.LOADABLE.get(source.key.partition("/")[0])
    if table is None:
        return _refused(f"a key begins with the table: one of {', '.join(catalog.LOADABLE)}")
    schema = environment.settings.database_schema
    try:
        with tempfile.TemporaryFile() as file:
            skip_invalid = fetch(source, file).get(SKIP_INVALID) == "true"
            with read_records(file, source.name) as records:
                loaded = load_records(url, table, records, schema=schema, skip_invalid=skip_invalid)
    except LoadError as error:
        return _refused("nothing of it was loaded", error.problems, error.count)
    except UnreadableFile as error:
        return _refused(error.message)
    analyze(url, table.name, schema=schema)
    counts = {"rows": loaded.rows, "changed": loaded.changed, "skipped": loaded.skipped}
    return {"status": "loaded", **counts, "problems": _spelt_out(loaded.problems), "notes": records.notes}


def _refused(message: str, problems: list[RowProblem] | None = None, count: int = 0) -> Report:
    return {"status": "refused", "message": message, "wrong_rows": count, "problems": _spelt_out(problems or [])}


def _spelt_out(problems: list[RowProblem]) -> list[Report]:
    return [{each.unit: each.line, "field": each.field, "message": each.message} for each in problems]
