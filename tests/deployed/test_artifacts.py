"""What `sam build` makes: the layers' contents, and each function as built under the Lambda runtime and AWS's emulator."""

from __future__ import annotations

import importlib.metadata
import json
import os
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from quarry.models.local_embedding import LocalEmbedding
from tests.conftest import clone_database
from tests.deployed.artifacts import ROOT, Artifacts, require_artifacts
from tests.deployed.replay import (
    STREAM_DELIMITER,
    Answer,
    RecordedEvent,
    files_put,
    forget_vectors,
    pretty,
    recorded_events,
)
from tests.deployed.rie import EmulatedFunction, emulated
from tools.benchmarks.deployed import LAYER_MAX_MIB, run_local_model, unpacked_mebibytes
from tools.sbom import bill_of_materials, normalised_name

RECORDED = recorded_events()
REQUESTS_TO_SEARCH = [recorded for recorded in RECORDED if recorded.function == "search"]

Emulate = Callable[[str], EmulatedFunction]

ELF_MACHINES = {"x86_64": 62, "arm64": 183}
UNCHECKED_HASH = 1
"""The flag of byte code that is valid whatever the date of its source (PEP 552)."""


@pytest.fixture(scope="module")
def artifacts() -> Artifacts:
    return require_artifacts()


@pytest.fixture(scope="module")
def database_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The sample data without vectors."""
    with clone_database(server_url, sample_template) as url:
        forget_vectors(url)
        yield url


@pytest.fixture(scope="module")
def emulate(artifacts: Artifacts, database_url: str) -> Iterator[Emulate]:
    """Starts a built function once, as under `sam local`."""
    with files_put() as files, ExitStack() as running:
        started: dict[str, EmulatedFunction] = {}

        def start(name: str) -> EmulatedFunction:
            if name not in started:
                environment = {"DATABASE_URL": database_url, "AWS_SAM_LOCAL": "true", **files.environment}
                started[name] = running.enter_context(emulated(artifacts, name, environment))
            return started[name]

        yield start


@pytest.fixture(scope="module")
def streaming_search(artifacts: Artifacts, database_url: str) -> Iterator[EmulatedFunction]:
    """The built search function as Lambda starts it: by the wrapper, which is handed the interpreter's command."""
    wrapper = [str(artifacts.shared_layer / "exec-wrapper"), str(artifacts.python)]
    with emulated(artifacts, "search", {"DATABASE_URL": database_url}, wrapper) as function:
        yield function


def files_of(layer: Path) -> set[str]:
    return {str(path.relative_to(layer)) for path in layer.rglob("*") if path.is_file()}


def distributions(artifacts: Artifacts) -> list[importlib.metadata.Distribution]:
    return list(importlib.metadata.distributions(path=list(map(str, artifacts.layers))))


def elf_machines(layers: Iterable[Path]) -> set[int]:
    """The architectures of the compiled modules and libraries."""
    heads = (path.read_bytes()[:20] for layer in layers for path in layer.rglob("*.so*"))
    return {struct.unpack_from("<H", head, 18)[0] for head in heads if head.startswith(b"\x7fELF")}


def test_the_layers_are_built_for_either_architecture(artifacts: Artifacts) -> None:
    found = [elf_machines(artifacts.layers), elf_machines([artifacts.compiled_elsewhere])]
    assert sorted(found, key=min) == [{ELF_MACHINES["x86_64"]}, {ELF_MACHINES["arm64"]}]


def test_the_layer_holds_the_package_without_its_local_part_its_page_and_its_sql(artifacts: Artifacts) -> None:
    package = ROOT / "layers" / "quarry" / "quarry"
    sources = {
        str(path.relative_to(package))
        for path in (
            *package.rglob("*.py"),
            *package.rglob("data/**/*"),
            *package.rglob("weights/*"),
            *(package / "api").rglob("*.json"),
            *package.rglob("*.toml"),
            *package.rglob("*.pem"),
            *(package / "page").rglob("*"),
        )
        if path.is_file() and path.relative_to(package).parts[0] != "local"
    }
    sql = {
        str(path.relative_to(ROOT))
        for part in ("migrations", "functions")
        for path in (ROOT / "sql" / part).rglob("*.sql")
    }
    built = {name for name in files_of(artifacts.shared_layer / "quarry") if not name.endswith(".pyc")}
    assert built == sources | sql


def test_the_layers_hold_nothing_that_no_function_needs(artifacts: Artifacts) -> None:
    names = {part for layer in artifacts.layers for file in files_of(layer) for part in Path(file).parts}
    assert not {"click", "jwt", "cffi", "pycparser"} & {
        path.name for layer in artifacts.layers for path in layer.iterdir()
    }
    assert not names & {"uvicorn", "rich", "pip", "tests", "bin", "RECORD"}
    assert not [name for name in names if name.endswith(".pyi")]
    described = {path.name for path in (artifacts.shared_layer / "botocore" / "data").iterdir() if path.is_dir()}
    assert described == {"secretsmanager", "s3", "bedrock-runtime", "sts", "rds", "lambda", "codedeploy"}


def test_the_layer_can_call_whatever_a_function_calls_of_aws(artifacts: Artifacts) -> None:
    code = """if True:
        import boto3
        for service, call in (
            ("lambda", "invoke_with_response_stream"), ("codedeploy", "put_lifecycle_event_hook_execution_status"),
            ("secretsmanager", "get_secret_value"), ("s3", "get_object"),
        ):
            getattr(boto3.client(service, "us-east-1"), call)
    """
    environment = {"PYTHONPATH": str(artifacts.shared_layer), "PATH": os.defpath}
    subprocess.run([artifacts.python, "-S", "-c", code], env=environment, check=True)


def test_all_layers_together_are_within_what_lambda_unpacks(artifacts: Artifacts) -> None:
    assert unpacked_mebibytes(artifacts.layers) < LAYER_MAX_MIB


def test_the_model_in_its_layer_gives_the_vectors_of_the_installed_one(artifacts: Artifacts) -> None:
    vector = run_local_model(artifacts)[3:]
    exact = LocalEmbedding().load().embed("Why did the council keep the elm?")
    assert vector == pytest.approx(exact, abs=1e-3)


def test_what_reads_its_own_metadata_finds_it(artifacts: Artifacts) -> None:
    installed = [f"{normalised_name(each)}=={each.version}" for each in distributions(artifacts)]
    pinned = {
        line.split()[0]
        for pins in ROOT.glob("layers/*/requirements.txt")
        for line in pins.read_text().splitlines()
        if "==" in line
    }
    assert {"psycopg-pool", "httpx2", "opentelemetry-api"} <= {each.partition("==")[0] for each in installed}
    assert set(installed) <= pinned
    assert len(set(installed)) == len(installed)  # nothing is in two layers


def test_the_bill_of_materials_names_what_the_layers_hold(artifacts: Artifacts) -> None:
    bill = bill_of_materials(artifacts.layers)
    installed = {each.name for each in distributions(artifacts)}
    components = {component["bom-ref"]: component for component in bill["components"]}
    assert {component["name"] for component in components.values()} == installed
    assert all(component["licenses"] for component in components.values())
    depends = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert depends.keys() - components.keys() == {bill["metadata"]["component"]["bom-ref"]}
    assert {each for dependencies in depends.values() for each in dependencies} == components.keys()


def test_every_module_is_compiled_for_good(artifacts: Artifacts) -> None:
    magic = subprocess.run(
        [artifacts.python, "-c", "import importlib.util as u, sys; sys.stdout.buffer.write(u.MAGIC_NUMBER)"],
        capture_output=True,
        check=True,
    ).stdout
    head = magic + struct.pack("<I", UNCHECKED_HASH)
    compiled, sources = (
        [path for layer in artifacts.layers for path in layer.rglob(f"*{end}")] for end in (".pyc", ".py")
    )
    assert len(compiled) == len(sources)
    assert [path for path in compiled if not path.read_bytes().startswith(head)] == []


def test_the_wrapper_can_be_executed_and_its_entry_imported(artifacts: Artifacts) -> None:
    wrapper = artifacts.shared_layer / "exec-wrapper"
    assert wrapper.stat().st_mode & 0o777 == 0o755
    assert "quarry.web.lambda_stream" in wrapper.read_text()
    assert (artifacts.shared_layer / "quarry" / "web" / "lambda_stream.py").exists()


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_a_built_function_yields_what_was_recorded(
    emulate: Emulate, database_url: str, recorded: RecordedEvent
) -> None:
    recorded.prepare(database_url)
    result = emulate(recorded.function).invoke_json(recorded.event)
    recorded.assert_yields(Answer.buffered(result).to_text() if recorded.is_request else pretty(result))


@pytest.mark.parametrize("recorded", REQUESTS_TO_SEARCH, ids=lambda recorded: recorded.name)
def test_the_built_search_function_yields_the_same_as_a_stream(
    streaming_search: EmulatedFunction, recorded: RecordedEvent
) -> None:
    recorded.assert_yields(Answer.streamed(streaming_search.invoke(recorded.event)).to_text())


def test_a_stream_is_a_head_of_json_eight_nul_bytes_and_server_sent_events(streaming_search: EmulatedFunction) -> None:
    [ask] = (recorded.event for recorded in RECORDED if recorded.name == "records/ask")

    head_text, delimiter, body = streaming_search.invoke(ask).partition(STREAM_DELIMITER)

    head = json.loads(head_text)
    assert delimiter
    assert b"\0" not in body
    assert head["statusCode"] == 200
    assert head["headers"]["content-type"].startswith("text/event-stream")
    assert {line.split(" ")[0] for line in body.decode().splitlines() if line} == {"id:", "data:"}


def test_a_refused_request_has_its_status_in_the_head_of_the_stream(streaming_search: EmulatedFunction) -> None:
    [ask] = (recorded.event for recorded in RECORDED if recorded.name == "records/ask")
    del ask["requestContext"]["authorizer"]
    answer = Answer.streamed(streaming_search.invoke(ask))
    assert answer.status == json.loads(answer.body)["status"] == 401


def test_the_built_cleanup_deletes_what_has_expired_when_its_schedule_comes(
    emulate: Emulate, database_url: str
) -> None:
    [scheduled] = (recorded.event for recorded in RECORDED if recorded.name == "cleanup/scheduled")
    with psycopg.connect(database_url, autocommit=True) as connection:
        kept = connection.execute("select id from answer_cache where expires_at > now() order by id").fetchall()
        connection.execute(
            """insert into answer_cache (id, query, answer, sources, source_count, confidence, expires_at)
               values ('expired', 'q', 'a', '[]', 0, 'low', now() - interval '1 day')"""
        )
        deleted = emulate("cleanup").invoke_json(scheduled)
        left = connection.execute("select id from answer_cache order by id").fetchall()
    assert deleted["answers"] == 1
    assert left == kept
