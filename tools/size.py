"""How large Quarry is, and how far a question travels in it: `python -m tools.size`.

Code lines are lines with code: no blank ones, comments, docstrings or imports. A question's way is what the package's own Python
does for it in a warm service: the files that it enters and the functions that it calls. tools/size.json holds the accepted
figures, and why they were accepted.

`--check` fails if a figure is more than 2 % above the accepted one; `--write "why"` accepts the present ones.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import logging
import os
import sys
import threading
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2

from quarry.api.routers import EVERYTHING
from quarry.local.data import load_sample
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS, Settings
from quarry.postgres.migrate import connect, migrate
from quarry.services.services import build_services
from quarry.web.app import create_app

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "layers" / "quarry" / "quarry"
DRAFTING = ROOT / "tools" / "src" / "quarry_map"
ACCEPTED_FILE = Path(__file__).with_suffix(".json")
GROWTH = 1.02
"""How much a figure may rise unexplained."""

Figures = dict[str, int]

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "a count over records": ("/records/ask", {"question": "How many motions were carried in 2024?", "fresh": True}),
    "a passage of records": ("/records/ask", {"question": "Why did the council keep the old elm?", "fresh": True}),
    "companies": (
        "/companies/chat",
        {"messages": [{"role": "user", "content": "Robots you can lease instead of buying"}]},
    ),
    "people": ("/people/search", {"query": "Backend engineers in Bengaluru who have worked on payments"}),
    "projects": ("/ontology/ask", {"question": "Which tasks are blocked?"}),
    "campaigns": ("/campaigns/chat", {"message": "How many campaigns with a free trial are there for each channel?"}),
}

# Kept between runs, since loading the sample takes longer than all questions.
_CLUSTER = ROOT / ".quarry" / "size"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.size", description="How large Quarry is.")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--check", action="store_true", help="fail if a figure is more than 2 %% above the accepted one"
    )
    choice.add_argument("--write", metavar="WHY", help="accept the present figures, for this reason")
    options = parser.parse_args(arguments)

    now = sizes() | asyncio.run(ways())
    accepted: Figures = json.loads(ACCEPTED_FILE.read_text())["figures"] if ACCEPTED_FILE.exists() else {}
    for name, figure in now.items():
        before = accepted.get(name)
        print(
            f"{figure:>9,}  {name}"
            + (f"  ({(figure / before - 1) * 100:+.1f} %)" if before and before != figure else "")
        )
    if options.write:
        ACCEPTED_FILE.write_text(json.dumps({"why": options.write, "figures": now}, indent=2) + "\n")
    grown = [name for name, figure in now.items() if figure > accepted.get(name, figure) * GROWTH]
    if options.check and grown:
        message = f'Larger by more than 2 %: {"; ".join(grown)}. Make it smaller, or run `python -m tools.size --write "why"`.'
        print(message, file=sys.stderr)
        return 1
    return 0


def sizes() -> Figures:
    """The lines and files of the package, the SQL functions and the page."""
    modules = sorted([*PACKAGE.rglob("*.py"), *DRAFTING.rglob("*.py")])
    return {
        "lines of Python": _lines(modules),
        "code lines of Python": sum(code_lines(path.read_text()) for path in modules),
        "files of Python": sum(path.stat().st_size > 0 for path in modules),
        "lines of SQL functions": _lines((ROOT / "sql" / "functions").rglob("*.sql")),
        "lines of the page": _lines(
            path for path in (PACKAGE / "page").rglob("*") if path.suffix in (".js", ".css", ".html")
        ),
    }


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def code_lines(source: str) -> int:
    """The lines of a module that hold code."""
    with_code = set[int]()
    for token in tokenize.generate_tokens(iter(source.splitlines(keepends=True)).__next__):
        if token.type not in _NO_CODE:
            with_code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and _is_without_code(node):
            with_code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(with_code)


_NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def _is_without_code(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


async def ways() -> Figures:
    """The files and calls of each question, asked twice before."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    logging.disable(logging.CRITICAL)
    figures: Figures = {}
    calls = Calls()
    calls.install()
    with EmbeddedPostgres(_CLUSTER, parameters={"fsync": "off"}) as server:
        url = _database(server.start())
        settings = {"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0", "EMBEDDINGS": "local"}
        services = build_services(Settings.from_environment(settings))
        await load_sample(services.database, url, LocalEmbedding())
        app = create_app(services, EVERYTHING)
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=600) as client:
            for name, (path, body) in QUESTIONS.items():
                for _ in range(2):
                    (await client.post(path, json=body)).raise_for_status()
                calls.files.clear()
                calls.is_on = True
                (await client.post(path, json=body)).raise_for_status()
                calls.is_on = False
                figures[f"files entered: {name}"] = len(calls.files)
                figures[f"calls: {name}"] = calls.files.total()
        await services.close()
    return figures


def _database(server_url: str) -> str:
    url = server_url.rsplit("/", 1)[0] + "/size"
    with connect(server_url) as connection:
        if connection.execute("select from pg_database where datname = 'size'").fetchone() is None:
            connection.execute("create database size")
    migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)
    return url


class Calls:
    """Counts the calls of the package's functions while it is on, by file, in every thread that starts after it was installed.
    Comprehensions do not count, since not every Python calls them.
    """

    def __init__(self) -> None:
        self.files = Counter[str]()
        self.is_on = False
        self._folder = str(PACKAGE)

    def install(self) -> None:
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def _count(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        is_call = self.is_on and event == "call" and code.co_name not in _COMPREHENSIONS
        if is_call and code.co_filename.startswith(self._folder):
            self.files[code.co_filename] += 1


_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


if __name__ == "__main__":
    sys.exit(main())
