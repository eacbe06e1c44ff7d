"""Commands that serve, search, measure search, and show runs, data about users and this installation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from quarry.domains import DOMAINS
from quarry.local.cli.parsing import (
    DONE,
    Arguments,
    Commands,
    Parser,
    WrongUsage,
    above,
    add,
    add_group,
    add_json,
    calling,
    port,
    user_name,
)


def _show_credits(given: Arguments) -> int:
    if given.user_id is None:
        raise WrongUsage("name the user")
    return calling("quarry.local.users:show_credits")(given)


def _show_own_credits(given: Arguments) -> int:
    if given.user_id is not None:
        raise WrongUsage("a server shows only your own credits: omit the user")
    return calling("quarry.local.query:show_own_credits")(given)


def _grant_credits(given: Arguments) -> int:
    from quarry.people.access import GRANT_MAX

    if given.credits > GRANT_MAX:
        raise WrongUsage(f"at most {GRANT_MAX:,} credits are granted at once")
    return calling("quarry.local.users:grant_credits")(given)


def _completion(given: Arguments) -> int:
    import shtab

    from quarry.local.cli import parser

    commands = parser()
    for action in _actions(commands):
        if action.type is Path or action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
    print(shtab.complete(commands, given.shell))
    return DONE


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the parser and its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def add_serving(commands: Commands) -> None:
    for name, summary in (
        ("serve", "serve the whole API on one port"),
        ("demo", "load the sample data if it is missing, then serve"),
    ):
        parser = add(commands, name, f"quarry.local.server:{name}", summary, f"quarry {name} --port 8081", json=False)
        parser.add_argument("--host", default="127.0.0.1", help="the address to serve on (default: %(default)s)")
        parser.add_argument("--port", type=port, default=8080, help="default: %(default)s; 0 for any free port")
        parser.add_argument("--open", dest="open_page", action="store_true", help="open the page in a browser")


def add_searching(commands: Commands) -> None:
    ask = add(
        commands, "ask", "quarry.local.ask:ask", "ask a question and watch the answer",
        'quarry ask records "Why was the bridge closed to trucks?"', remote="quarry.local.query:ask_server", json=False,
    )  # fmt: skip
    ask.add_argument("domain", metavar="DOMAIN", choices=sorted(DOMAINS), help=", ".join(sorted(DOMAINS)))
    ask.add_argument("question", metavar="QUESTION", help="in plain words, up to 2,000 characters")
    add_json(ask, "the raw events, one JSON object a line")

    query = add(
        commands, "query", "quarry.local.query:query_here", "give the exact result of a Query",
        """echo '{"source": "motion", "aggregate": ["count"]}' | quarry query -""",
        remote="quarry.local.query:query_server",
        about="Give the exact result of a Query, which is JSON: the rows, numbers or groups of a source, a sentence that states\n"
        "them, and the filters. docs/query.md describes the Query.",
    )  # fmt: skip
    query.add_argument("file", metavar="FILE", help="a file of JSON, or - for standard input")

    explain = add(
        commands, "explain", "quarry.local.query:explain", "show how a question is read without a model",
        'quarry explain "How many motions were there in 2024?"',
        about="Show how a question is read without a chat model: what its words may mean, the likeliest Queries with their\n"
        "scores, how likely the first one is right, and which words were not read. No Query is run.",
    )  # fmt: skip
    explain.add_argument("question", metavar="QUESTION", help="in plain words, up to 2,000 characters")
    several = "only this source; repeat for several"
    explain.add_argument("--source", dest="sources", action="append", default=[], metavar="NAME", help=several)
    _add_agents(commands)
    _add_runs(commands)


def _add_agents(commands: Commands) -> None:
    tools = add(
        commands, "tools", "quarry.local.agents:print_tools", "print the tools for agents, as definitions",
        "quarry tools --format openai", json=False,
    )  # fmt: skip
    form = "function format (default: %(default)s)"
    tools.add_argument("--format", choices=("openai", "mcp"), default="openai", help=form)

    mcp = add(
        commands, "mcp", "quarry.local.agents:serve_agents", "serve the tools for agents over standard input and output",
        "quarry mcp", json=False,
        about="Serve the tools for agents by the Model Context Protocol over standard input and output. Clients on this\n"
        "machine start it themselves: docs/agents.md has the configuration to paste.",
    )  # fmt: skip
    mcp.add_argument("--user", metavar="NAME", default="demo", help="the user who searches (default: %(default)s)")
    costly = "also offer search_people, which costs a credit per call"
    mcp.add_argument("--allow-spending", dest="may_spend", action="store_true", help=costly)


def _add_runs(commands: Commands) -> None:
    runs = add(
        commands, "runs", "quarry.local.runs:list_runs", "list past searches, or show one", "quarry runs --limit 5"
    )
    runs.add_argument("--limit", type=above(0), default=20, metavar="N", help="how many (default: %(default)s)")
    runs.add_argument("--feedback", dest="with_feedback", action="store_true", help="only runs with feedback")
    actions = runs.add_subparsers(title="commands", metavar="[COMMAND]", parser_class=Parser)
    show = add(
        actions, "show", "quarry.local.runs:show_run", "show one run as a timeline", "quarry runs show 3f2a", json=False
    )  # fmt: skip
    replay = add(
        actions, "replay", "quarry_tools.replay:replay_run", "repeat a run, and show what differs",
        "quarry runs replay 3f2a", json=False,
        about="Repeat the request of a run, with its filters and constraints, on the current code, data and settings. Compares\n"
        "results, their order and how the search ended; for records also the answer, as long as it is stored. For companies\n"
        "and campaigns it shows the new answer. Nobody is charged and no run is recorded, but a chat model is called if there\n"
        "is one. Of a conversation only the questions are repeated: the run log has neither its answers nor requests of more\n"
        "than 20,000 characters.",
    )  # fmt: skip
    for action in (show, replay):
        action.add_argument("run_id", metavar="ID", help="the run's id, or its first characters")
        # without a default: `quarry runs --json show ID` has set it already
        add_json(action, default=argparse.SUPPRESS)


def add_judging(commands: Commands) -> None:
    evaluate = add(
        commands, "eval", "quarry_tools.evaluation:evaluate_files", "measure search on judged queries",
        "quarry eval sql/sample/records/judged.jsonl",
        about="Run each query of a judged file through the search of its domain, in this process. Print for each kind of\n"
        "query the quality of the ranking, how often answers are right and demands broken, and the times. Searches\n"
        "that use a chat model call it. docs/evaluating.md explains how to judge your own queries.",
    )  # fmt: skip
    against = "compare with what `quarry eval --json` wrote earlier"
    evaluate.add_argument("--against", metavar="EARLIER.json", type=Path, help=against)
    tune = add(
        commands, "tune", "quarry_tools.tune:tune_by_files", "find the weights of words and meaning that suit your data",
        "quarry tune sql/sample/records/judged.jsonl",
        about="Try weights of words and meaning on judged queries, and measure the best ones on queries that were held out.\n"
        "--apply stores them for this database if they do better there; the environment takes precedence.",
    )  # fmt: skip
    folds = "how many parts to hold out in turn (default: %(default)s)"
    tune.add_argument("--folds", type=above(1), default=5, metavar="N", help=folds)
    tune.add_argument("--apply", action="store_true", help="store the best weights for this database")
    tune.add_argument("--reset", action="store_true", help="delete the stored weights")
    for parser, number in ((evaluate, "+"), (tune, "*")):
        parser.add_argument("files", metavar="FILE", type=Path, nargs=number, help="one judged query a line, as JSON")
        parser.add_argument("--domain", choices=sorted(DOMAINS), help="only the queries of this domain")


def add_users(commands: Commands) -> None:
    actions = add_group(
        commands, "credits", "show a user's credits, or grant some",
        "Show a user's credits, or grant some. A people search costs one, and so does a contact unlocked.",
        "quarry credits grant ada 50",
    )  # fmt: skip
    show = add(
        actions, "show", _show_credits, "show a user's balance and latest bookings", "quarry credits show ada",
        remote=_show_own_credits,
    )  # fmt: skip
    whose = "none with --server; locally a name; deployed, the user's Cognito `sub`"
    show.add_argument("user_id", metavar="USER", nargs="?", type=user_name, help=whose)
    give = add(actions, "grant", _grant_credits, "give a user credits", "quarry credits grant ada 50")
    give.add_argument(
        "user_id", metavar="USER", type=user_name, help="locally a name; deployed, the user's Cognito `sub`"
    )
    give.add_argument("credits", metavar="N", type=above(0), help="how many to add")

    forget = add(
        commands, "forget", "quarry.local.users:forget_record", "delete a record and everything stored about it",
        "quarry forget person p-17",
        about="Delete a record with its vectors, and remove it from everything that is stored: searches, unlocked contacts,\n"
        "answers, streams, the run log, users' conversations. If that fails, nothing changes. A line in the table\n"
        "`forgotten` remains, which does not name the record. Delete a row of your own tables yourself, first.",
    )  # fmt: skip
    forget.add_argument("kind", metavar="TYPE", help="person, company, campaign, meeting, motion, task, …")
    forget.add_argument("id", metavar="ID", type=user_name, help="the record's id")

    summary, example = "print what is stored about a user", "quarry export user ada > ada.json"
    about = "Print what is stored about a user, as JSON: searches, answers, unlocked contacts, credits, feedback,\nconversations."
    kinds = add_group(commands, "export", summary, about, example)
    user = add(kinds, "user", "quarry.local.users:export_user", summary, example, json=False)
    user.add_argument("user", metavar="NAME", type=user_name, help="locally a name; deployed, the user's Cognito `sub`")
    add_json(user, "accepted; the output is always JSON")


def add_installation(commands: Commands) -> None:
    add(
        commands,
        "doctor",
        "quarry.local.doctor:examine",
        "check this installation and say how to fix it",
        "quarry doctor",
    )
    actions = add_group(
        commands, "config", "show the settings in force", "Show the settings in force. docs/settings.md describes them.",
        "quarry config show",
    )  # fmt: skip
    summary = "list every setting, its value and where it comes from; secrets are hidden"
    add(actions, "show", "quarry.local.config:show_settings", summary, "quarry config show")
    completion = add(
        commands, "completion", _completion, "print a completion script for a shell",
        "quarry completion bash > ~/.local/share/bash-completion/completions/quarry\n"
        "  quarry completion zsh > a file _quarry in a folder of $fpath\n"
        "  quarry completion fish > ~/.config/fish/completions/quarry.fish",
        json=False,
    )  # fmt: skip
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="which")
