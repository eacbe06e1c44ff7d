"""Commands that search, and look at searches."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from quarry.domains import DOMAINS
from quarry.local.cli.parsing import (
    DONE,
    Arguments,
    Commands,
    Parser,
    WrongUsage,
    add,
    add_json,
    on_database,
    positive,
)

if TYPE_CHECKING:
    from quarry.query.algebra import Query


QUESTION_CHARACTERS_MAX = 2_000


def _ask(given: Arguments) -> int:
    from quarry.local.ask import ask

    _check_question(given)
    return on_database(lambda database: ask(given.domain, given.question, database, as_json=given.json))


def _ask_server(given: Arguments) -> int:
    import asyncio

    from quarry.local.remote import ask_server

    _check_question(given)
    asyncio.run(ask_server(given.server, given.domain, given.question, as_json=given.json))
    return DONE


def _check_question(given: Arguments) -> None:
    from quarry.local.ask import check
    from quarry.platform.errors import InvalidInput

    try:
        check(given.domain, given.question)
    except InvalidInput as error:
        raise WrongUsage(error.message) from error


def _query(given: Arguments) -> int:
    from quarry.local.query import query_here

    query = _read_query(given)
    return on_database(lambda database: query_here(query, database, as_json=given.json))


def _query_server(given: Arguments) -> int:
    import asyncio

    from quarry.local.remote import query_server

    asyncio.run(query_server(given.server, _read_query(given), as_json=given.json))
    return DONE


def _read_query(given: Arguments) -> Query:
    from quarry.local.query import read_query
    from quarry.platform.errors import InvalidInput

    try:
        return read_query(given.file)
    except InvalidInput as error:
        raise WrongUsage(error.message) from error


def _explain(given: Arguments) -> int:
    from quarry.local.query import explain

    if not given.question.strip() or len(given.question) > QUESTION_CHARACTERS_MAX:
        raise WrongUsage(f"QUESTION is 1 to {QUESTION_CHARACTERS_MAX:,} characters")
    return on_database(lambda database: explain(given.question, database, sources=given.source, as_json=given.json))


def _runs(given: Arguments) -> int:
    from quarry.local.runs import list_runs

    return on_database(
        lambda database: list_runs(database, given.limit, with_feedback=given.feedback, as_json=given.json)
    )


def _show_run(given: Arguments) -> int:
    from quarry.local.runs import show_run

    return on_database(lambda database: show_run(database, given.id, as_json=given.json))


def _replay_run(given: Arguments) -> int:
    from quarry_tools.replay import replay_run

    return on_database(lambda database: replay_run(database, given.id, as_json=given.json))


def _tools(given: Arguments) -> int:
    from quarry.local.agents import print_tools

    print_tools(given.format)
    return DONE


def _mcp(given: Arguments) -> int:
    from quarry.local.agents import serve_agents

    serve_agents(given.user, may_spend=given.allow_spending)
    return DONE


def add_to(commands: Commands) -> None:
    _add_ask(commands)
    _add_query(commands)
    _add_explain(commands)
    _add_agents(commands)
    _add_runs(commands)


def _add_ask(commands: Commands) -> None:
    ask = add(
        commands, "ask", _ask, "ask a question and watch it being answered",
        'quarry ask records "Why was the bridge closed to trucks?"', remote=_ask_server,
    )  # fmt: skip
    ask.add_argument("domain", metavar="DOMAIN", choices=sorted(DOMAINS), help=", ".join(sorted(DOMAINS)))
    ask.add_argument("question", metavar="QUESTION", help="in plain words, up to 2,000 characters")
    ask.add_argument("--json", action="store_true", help="the raw events, one JSON object a line")


def _add_query(commands: Commands) -> None:
    query = add(
        commands, "query", _query, "give the exact result of a Query",
        """echo '{"source": "motion", "aggregate": ["count"]}' | quarry query -""", remote=_query_server,
    )  # fmt: skip
    query.description = (
        "Give the exact result of a Query, which is JSON: the rows, numbers or groups of a source, a sentence that says them,\n"
        "and what it was filtered by. docs/query.md describes what a Query can say."
    )
    query.add_argument("file", metavar="FILE", help="a file of JSON, or - for standard input")
    add_json(query)


def _add_explain(commands: Commands) -> None:
    explain = add(
        commands, "explain", _explain, "show how a question is read without a model",
        'quarry explain "How many motions were there in 2024?"',
    )  # fmt: skip
    explain.description = (
        "Show how a question is read without a chat model: what its words may mean, the likeliest Queries with their scores,\n"
        "how likely the first one is right, and which words were not read. No Query is run."
    )
    explain.add_argument("question", metavar="QUESTION", help="in plain words, up to 2,000 characters")
    explain.add_argument(
        "--source", action="append", default=[], metavar="NAME", help="only this source; repeat for several"
    )
    add_json(explain)


def _add_agents(commands: Commands) -> None:
    tools = add(
        commands, "tools", _tools, "print the tools for agents, as definitions", "quarry tools --format openai"
    )  # fmt: skip
    tools.add_argument(
        "--format", choices=("openai", "mcp"), default="openai", help="function format (default: %(default)s)"
    )

    mcp = add(commands, "mcp", _mcp, "serve the tools for agents over standard input and output", "quarry mcp")
    mcp.description = (
        "Serve the tools for agents by the Model Context Protocol over standard input and output. A client on this machine\n"
        "starts this by itself: docs/agents.md has the configuration to paste."
    )
    mcp.add_argument("--user", metavar="NAME", default="demo", help="whose searches they are (default: %(default)s)")
    mcp.add_argument(
        "--allow-spending", action="store_true", help="offer search_people too, which costs a credit each time"
    )


def _add_runs(commands: Commands) -> None:
    runs = add(commands, "runs", _runs, "list past searches, or show one", "quarry runs --limit 5")
    runs.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default: %(default)s)")
    runs.add_argument("--feedback", action="store_true", help="only runs with feedback")
    add_json(runs)
    actions = runs.add_subparsers(title="commands", metavar="[COMMAND]", parser_class=Parser)
    show = add(actions, "show", _show_run, "show one run as a timeline", "quarry runs show 3f2a")
    show.add_argument("id", metavar="ID", help="the run's id, or the beginning of it")
    replay = add(actions, "replay", _replay_run, "ask again, and show what is different", "quarry runs replay 3f2a")
    replay.description = (
        "Ask the request of a run again, with its filters and constraints, by the code, data and settings of today, and\n"
        "compare results, their order, how it ended, and of records the answer while it is kept; of companies and campaigns\n"
        "today's is shown. Nobody is charged and no run is recorded; with a chat model, it is called. Of a conversation the\n"
        "questions are asked again: its answers are not in the run log, nor is a request of more than 20,000 characters."
    )
    replay.add_argument("id", metavar="ID", help="the run's id, or the beginning of it")
    for action in (show, replay):
        # without a default: `quarry runs --json show ID` has set it already
        action.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="for programs: JSON on stdout"
        )
