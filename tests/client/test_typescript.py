"""The TypeScript client, run by Node against a running service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "typescript"
SCRIPT = """
import {Quarry, QuarryError} from %s;
const quarry = new Quarry(%s, {token: 'ada'});
const found = await quarry.call('GET /records/search', {query: {q: 'bridge', type: ['motion'], limit: 2, mover: 'Tomas Wray'}});
const [{type, id}] = found.results;
const record = await quarry.call('GET /records/{type}/{id}', {path: {type, id}});
const counted = await quarry.call('POST /query', {body: {source: 'motion', aggregate: ['count']}});
const events = [];
const question = 'How many motions were defeated in 2025?';
for await (const event of quarry.stream('POST /records/ask', {body: {question}})) events.push(event.type);
const chat = [];
const messages = [{role: 'user', content: 'Robots'}];
for await (const event of quarry.stream('POST /companies/chat', {body: {messages}})) chat.push(event.type);
const refused = await quarry.call('GET /records/{type}/{id}', {path: {type: 'motion', id: 'none'}}).catch((error) => error);
console.log(JSON.stringify({
  titles: found.results.map(({title}) => title), mover: record.fields.mover, rows: counted.rows, events, chat,
  refused: refused instanceof QuarryError && [refused.status, refused.message],
}));
"""


def test_it_calls_routes_and_reads_streams_and_problems(base: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("There is no Node here")
    script = tmp_path / "try.mjs"
    script.write_text(SCRIPT % (json.dumps((CLIENT / "quarry.js").as_uri()), json.dumps(base)))
    done = subprocess.run([node, script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["titles"]
    assert told["mover"] == "Tomas Wray"
    assert told["rows"] == [[210]]
    assert (told["events"][-1], told["chat"][-1]) == ("done", "final_answer")
    assert told["refused"] == [404, "There is no motion with this id."]


def test_its_types_name_every_route_and_close_what_they_open() -> None:
    api = json.loads((CLIENT.parents[1] / "docs" / "api" / "openapi.json").read_text())
    types = (CLIENT / "quarry.d.ts").read_text()
    routes = {f"{method.upper()} {path}" for path, methods in api["paths"].items() for method in methods}
    assert set(re.findall(r"^  '([A-Z]+ /[^']*)': ", types, re.MULTILINE)) == routes
    code = re.sub(r"/\*\*.*?\*/", "", types, flags=re.DOTALL)
    assert all(code.count(one) == code.count(other) for one, other in ("{}", "()", "[]"))
    named = set(re.findall(r"^export (?:type|interface|class) (\w+)", types, re.MULTILINE))
    assert {re.sub(r"\W+", "_", name) for name in api["components"]["schemas"]} <= named
