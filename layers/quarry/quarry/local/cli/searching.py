"""Commands that serve, search, measure search, and show runs, data about users and this installation."""

from __future__ import annotations

import click

from quarry.local.cli.command import (
    DONE,
    FILE,
    PORT,
    POSITIVE,
    Argument,
    Arguments,
    Group,
    WrongUsage,
    add,
    add_group,
    calling,
    flag,
    formats,
    option,
    user_name,
)
from quarry.platform.contract import DOMAINS

_DOMAIN = click.Choice(sorted(DOMAINS))
_ASKED = {"projects" if domain == "ontology" else domain: domain for domain in DOMAINS}
"""The domains as people call them; the API's names serve too."""
_QUESTION = Argument("question", "QUESTION", "in plain words, up to 2,000 characters")


def _ask(arguments: Arguments) -> int:
    arguments.domain, arguments.question = _domain_and_question(arguments)
    return calling("quarry.local.ask:ask")(arguments)


def _ask_server(arguments: Arguments) -> int:
    arguments.domain, arguments.question = _domain_and_question(arguments)
    if arguments.domain is None:
        raise WrongUsage(f"with --server, name what to ask: {', '.join(sorted(_ASKED))}")
    return calling("quarry.local.query:ask_server")(arguments)


def _domain_and_question(arguments: Arguments) -> tuple[str | None, str]:
    domain, question = [None, *arguments.words][-2:]
    if len(arguments.words) > 2:
        raise WrongUsage("put the question in quotes")
    if domain is not None and domain not in {*_ASKED, *DOMAINS}:
        raise WrongUsage(f"there is no domain {domain!r}; choose one of {', '.join(sorted(_ASKED))}")
    return _ASKED.get(domain or "", domain), question


def _show_credits(arguments: Arguments) -> int:
    if arguments.user_id is None:
        raise WrongUsage("name the user")
    return calling("quarry.local.users:show_credits")(arguments)


def _show_own_credits(arguments: Arguments) -> int:
    if arguments.user_id is not None:
        raise WrongUsage("a server shows only your own credits: omit the user")
    return calling("quarry.local.query:show_own_credits")(arguments)


def _grant_credits(arguments: Arguments) -> int:
    from quarry.people.access import GRANT_MAX

    if arguments.credits > GRANT_MAX:
        raise WrongUsage(f"at most {GRANT_MAX:,} credits are granted at once")
    return calling("quarry.local.users:grant_credits")(arguments)


def _completion(arguments: Arguments) -> int:
    from click.shell_completion import get_completion_class

    from quarry.local.cli import commands

    shell = get_completion_class(arguments.shell)
    assert shell is not None
    print(shell(commands(), {}, "quarry", "_QUARRY_COMPLETE").source())
    return DONE


def add_serving(group: Group) -> None:
    for name, summary in (
        ("serve", "serve the whole API on one port"),
        ("demo", "load the sample data if it is missing, then serve"),
    ):
        add(
            group, name, f"quarry.local.server:{name}", summary, f"quarry {name} --port 8081",
            option("--host", default="127.0.0.1", show_default=True, help="the address to serve on"),
            option("--port", type=PORT, default=8080, show_default=True, help="0 for any free port"),
            flag("--open", "open_page", help="open the page in a browser"),
            json=None,
        )  # fmt: skip


def add_searching(group: Group) -> None:
    add(
        group, "ask", _ask, "ask a question and watch the answer",
        'quarry ask records "Why was the bridge closed to trucks?"',
        Argument("words", "[DOMAIN] QUESTION", f"{', '.join(sorted(_ASKED))} (default: all with data), and the "
                 "question in plain words, up to 2,000 characters, in quotes", nargs=-1, required=True),
        *formats("csv: the numbers you asked for, or the rows listed or cited; json: the events, one a line"),
        remote=_ask_server, json=None,
    )  # fmt: skip
    add(
        group, "search", "quarry.local.query:search_here", "list the records that match some words",
        'quarry search "bridge weight limit" --type motion --limit 5',
        Argument("words", "WORDS", "up to 2,000 characters, in quotes"),
        option("--type", "types", multiple=True, metavar="NAME", help="only records of this type; repeat for several"),
        option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, metavar="N", help="how many"),
        *formats(),
        remote="quarry.local.query:search_server", json=None,
        about="List the records that match your words or their meaning, best first, as `GET /records/search` does.",
    )  # fmt: skip
    add(
        group, "query", "quarry.local.query:query_here", "give the exact result of a Query",
        """echo '{"source": "motion", "aggregate": ["count"]}' | quarry query -""",
        Argument("file", "FILE", "a file of JSON, or - for standard input"),
        *formats(),
        remote="quarry.local.query:query_server", json=None,
        about="Give the exact result of a Query, which is JSON: the rows, numbers or groups of a source, a sentence that states "
        "them, and the filters. docs/query.md describes the Query.",
    )  # fmt: skip
    add(
        group, "explain", "quarry.local.query:explain", "show how a question is read without a model",
        'quarry explain "How many motions were there in 2024?"',
        _QUESTION,
        option("--source", "sources", multiple=True, metavar="NAME", help="only this source; repeat for several"),
        about="Show how a question is read without a chat model: what its words may mean, the likeliest Queries with their "
        "scores, how likely the first one is right, and which words were not read. No Query is run.",
    )  # fmt: skip
    _add_agents(group)
    _add_runs(group)


def _add_agents(group: Group) -> None:
    add(
        group, "tools", "quarry.local.agents:print_tools", "print the definitions of the tools for agents",
        "quarry tools --format openai",
        option("--format", type=click.Choice(("openai", "mcp")), default="openai", show_default=True, help="function format"),
        json=None,
    )  # fmt: skip
    add(
        group, "mcp", "quarry.local.agents:serve_agents", "serve the tools for agents over standard input and output",
        "quarry mcp",
        option("--user", metavar="NAME", default="demo", show_default=True, help="the user who searches"),
        flag("--allow-spending", "may_spend", help="also offer search_people, which costs a credit per call"),
        json=None,
        about="Serve the tools for agents by the Model Context Protocol over standard input and output. Clients on this "
        "machine start it themselves: docs/agents.md has the configuration to paste.",
    )  # fmt: skip


def _add_runs(group: Group) -> None:
    runs = add(
        group, "runs", "quarry.local.runs:list_runs", "list past searches, or show one", "quarry runs --limit 5",
        option("--limit", type=POSITIVE, default=20, show_default=True, metavar="N", help="how many"),
        flag("--feedback", "with_feedback", help="only runs with feedback"),
        *formats(),
        json=None, kind=Group, invoke_without_command=True, subcommand_metavar="[COMMAND]",
    )  # fmt: skip
    run_id = Argument("run_id", "ID", "the run's id, or its first characters")
    add(runs, "show", "quarry.local.runs:show_run", "show one run as a timeline", "quarry runs show 3f2a", run_id)
    add(
        runs, "replay", "quarry_tools.replay:replay_run", "repeat a run, and show what differs",
        "quarry runs replay 3f2a", run_id,
        about="Repeat the request of a run, with its filters and constraints, on the current code, data and settings. Compares "
        "results, their order and how the search ended; for records also the answer, as long as it is stored. For companies "
        "and campaigns it shows the new answer. Nobody is charged and no run is recorded, but a chat model is called if there "
        "is one. Of a conversation only the questions are repeated: the run log has neither its answers nor requests of more "
        "than 20,000 characters.",
    )  # fmt: skip


def add_judging(group: Group) -> None:
    what = "one judged query a line, as JSON"
    only = option("--domain", type=_DOMAIN, help="only the queries of this domain")
    add(
        group, "eval", "quarry_tools.evaluation:evaluate_files", "measure search on judged queries",
        "quarry eval sql/sample/records/judged.jsonl",
        Argument("files", "FILE...", what, type=FILE, nargs=-1, required=True),
        option("--against", metavar="EARLIER.json", type=FILE, help="compare with what `quarry eval --json` wrote earlier"),
        only,
        about="Run each query of a judged file through the search of its domain, in this process. Print for each kind of "
        "query the quality of the ranking, how many answers are right, how many results break a condition, and the times. "
        "Searches that use a chat model call it. docs/evaluating.md explains how to judge your own queries.",
    )  # fmt: skip
    add(
        group, "tune", "quarry_tools.tune:tune_by_files", "find the weights of words and meaning that suit your data",
        "quarry tune sql/sample/records/judged.jsonl",
        Argument("files", "[FILE...]", what, type=FILE, nargs=-1),
        option(
            "--folds", type=click.IntRange(2), default=5, show_default=True, metavar="N",
            help="how many parts to hold out in turn",
        ),
        flag("--apply", help="store the best weights for this database"),
        flag("--reset", help="delete the stored weights"),
        only,
        about="Try weights of words and meaning on judged queries, and measure the best ones on queries that were held out. "
        "--apply stores them for this database if they do better there; the environment takes precedence.",
    )  # fmt: skip


def add_users(group: Group) -> None:
    actions = add_group(
        group, "credits", "show a user's credits, or grant some",
        "Show a user's credits, or grant some. A people search costs one, and so does a contact unlocked.",
        "quarry credits grant ada 50",
    )  # fmt: skip
    deployed = "locally a name; deployed, the user's Cognito `sub`"
    add(
        actions, "show", _show_credits, "show a user's balance and latest bookings", "quarry credits show ada",
        Argument("user_id", "[USER]", f"none with --server; {deployed}", type=user_name, required=False),
        remote=_show_own_credits,
    )  # fmt: skip
    add(
        actions, "grant", _grant_credits, "give a user credits", "quarry credits grant ada 50",
        Argument("user_id", "USER", deployed, type=user_name),
        Argument("credits", "N", "how many to add", type=POSITIVE),
    )  # fmt: skip
    add(
        group, "forget", "quarry.local.users:forget_record", "delete a record and everything stored about it",
        "quarry forget person p-17",
        Argument("kind", "TYPE", "person, company, campaign, meeting, motion, task, …"),
        Argument("id", "ID", "the record's id", type=user_name),
        about="Delete a record with its vectors, and remove it from everything that is stored: searches, unlocked contacts, "
        "answers, streams, the run log, users' conversations. If that fails, nothing changes. A line in the table "
        "`forgotten` remains, which does not name the record. Delete a row of your own tables yourself, first.",
    )  # fmt: skip
    summary, example = "print what is stored about a user", "quarry export user ada > ada.json"
    about = "Print what is stored about a user, as JSON: searches, answers, unlocked contacts, credits, feedback, conversations."
    add(
        add_group(group, "export", summary, about, example), "user", "quarry.local.users:export_user", summary, example,
        Argument("user", "NAME", deployed, type=user_name),
        json="accepted; the output is always JSON",
    )  # fmt: skip


def add_installation(group: Group) -> None:
    add(
        group, "psql", "quarry.local.database:open_psql", "open psql on the database",
        """quarry psql -c 'select count(*) from motions'""",
        Argument("arguments", "[ARGUMENT...]", "passed on to psql", nargs=-1, type=click.UNPROCESSED),
        json=None, context_settings={"ignore_unknown_options": True},
        about="Open psql, the terminal of Postgres, on the database that Quarry uses: DATABASE_URL, or the embedded one, which "
        "runs as long as psql does and brings a psql of its own.",
    )  # fmt: skip
    summary = "check this installation and say how to fix it"
    add(group, "doctor", "quarry.local.doctor:examine", summary, "quarry doctor")
    actions = add_group(
        group, "config", "show the settings in force", "Show the settings in force. docs/settings.md describes them.",
        "quarry config show",
    )  # fmt: skip
    summary = "list every setting, its value and where it comes from; secrets are hidden"
    add(actions, "show", "quarry.local.config:show_settings", summary, "quarry config show")
    add(
        group, "completion", _completion, "print a completion script for a shell",
        "quarry completion bash > ~/.local/share/bash-completion/completions/quarry\n"
        "  quarry completion zsh > a file _quarry in a folder of $fpath\n"
        "  quarry completion fish > ~/.config/fish/completions/quarry.fish",
        Argument("shell", "SHELL", "bash, zsh or fish", type=click.Choice(("bash", "zsh", "fish"))),
        json=None,
    )  # fmt: skip
