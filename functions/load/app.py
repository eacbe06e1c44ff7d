"""The Lambda function `load`, called for each object put into the stack's bucket: loads it as `quarry load` does, into the
table at the start of its key, and writes the result next to it as `KEY.report.json`.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import quarry.platform.cold_start  # noqa: F401 -- before all else of ours
from quarry import catalog
from quarry.files.reading import read_records
from quarry.files.records import UnreadableFile
from quarry.postgres.load import LoadError, RowProblem, analyze, load_records
from quarry.postgres.migrate import connect
from quarry.services.s3 import S3Object, fetch, read_text, write_text
from quarry.services.services import read_database_url
from quarry.web.lambda_app import ExecutionEnvironment, LambdaContext

REPORT = ".report.json"
SKIP_INVALID = "skip-invalid"
"""An object with `true` under this name in its metadata is loaded without its invalid rows."""

Report = dict[str, Any]

logger = logging.getLogger("quarry.load")

environment = ExecutionEnvironment()


def handler(event: Mapping[str, Any], context: LambdaContext) -> Report:
    """Returns the report for the object in an EventBridge event; empty if the object is a report itself.

    A repeated event, or one older than another for the same object, changes nothing. Problems in a file go into its report.
    Raises DatabaseUnavailable, and Unavailable if S3 cannot be reached: the event must be delivered again.
    """
    told = event["detail"]["object"]
    source = S3Object(event["detail"]["bucket"]["name"], told["key"])
    if source.key.endswith(REPORT):
        return {}
    place = S3Object(source.bucket, source.key + REPORT)
    with _one_at_a_time(source.key.partition("/")[0]) as url:
        known: Report = json.loads(read_text(place) or "{}")
        if known and not _is_later(told["sequencer"], known["sequencer"]):
            return known
        report = {"file": str(source), "sequencer": told["sequencer"], **_load(url, source)}
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


@contextmanager
def _one_at_a_time(table: str) -> Iterator[str]:
    """The database's URL, while no other file is being loaded into the table."""
    url = read_database_url(environment.settings)
    with connect(url, environment.settings.database_schema) as connection:
        # the lock ends with the session
        connection.execute("select pg_advisory_lock(hashtextextended('quarry load ' || %s, 0))", [table])
        yield url
