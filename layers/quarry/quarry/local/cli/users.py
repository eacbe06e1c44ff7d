"""Commands about credits, users and forgetting."""

from __future__ import annotations

from quarry.local.cli.parsing import (
    DONE,
    Arguments,
    Commands,
    WrongUsage,
    add,
    add_group,
    add_json,
    on_database,
    positive,
    user_name,
)


def _forget(given: Arguments) -> int:
    from quarry.local.users import forget_record

    return on_database(lambda database: forget_record(database, given.type, given.id, as_json=given.json))


def _export_user(given: Arguments) -> int:
    from quarry.local.users import export_user

    return on_database(lambda database: export_user(database, given.user))


def _show_credits(given: Arguments) -> int:
    from quarry.local.users import show_credits

    if given.user is None:
        raise WrongUsage("name the user")
    return on_database(lambda database: show_credits(database, given.user, as_json=given.json))


def _show_own_credits(given: Arguments) -> int:
    import asyncio

    from quarry.local.remote import show_own_credits

    if given.user is not None:
        raise WrongUsage("a server shows only your own credits: leave out the user")
    asyncio.run(show_own_credits(given.server, as_json=given.json))
    return DONE


def _grant_credits(given: Arguments) -> int:
    from quarry.local.users import grant_credits
    from quarry.people.access import GRANT_MAX

    if given.credits > GRANT_MAX:
        raise WrongUsage(f"at most {GRANT_MAX:,} credits are granted at once")
    return on_database(lambda database: grant_credits(database, given.user, given.credits, as_json=given.json))


def add_to(commands: Commands) -> None:
    _add_credits(commands)
    forget = add(
        commands, "forget", _forget, "forget a record and all that is kept of it", "quarry forget person p-17"
    )  # fmt: skip
    forget.description = (
        "Delete a record with its vectors, and take it out of everything that was kept: stored searches, unlocked\n"
        "contacts, answers, streams, the run log, users' conversations. All of it or, where that fails, nothing. What\n"
        "stays is a line in the table `forgotten` that does not name it. A row of a table of your own is yours to delete."
    )
    forget.add_argument("type", metavar="TYPE", help="person, company, campaign, meeting, motion, task, …")
    forget.add_argument("id", metavar="ID", type=user_name, help="the record's id")
    add_json(forget)
    kinds = add_group(
        commands,
        "export",
        "print what is kept about a user",
        "Print what is kept about a user, as JSON: searches, answers, unlocked contacts, credits, feedback,\n"
        "conversations.",
        "quarry export user ada > ada.json",
    )
    user = add(kinds, "user", _export_user, "print what is kept about a user", "quarry export user ada > ada.json")
    user.add_argument("user", metavar="NAME", type=user_name, help="locally a name; deployed, the user's Cognito `sub`")
    user.add_argument("--json", action="store_true", help="accepted; the output is always JSON")


def _add_credits(commands: Commands) -> None:
    actions = add_group(
        commands,
        "credits",
        "show a user's credits, or grant some",
        "Show a user's credits, or grant some. A people search costs one, and so does a contact unlocked.",
        "quarry credits grant ada 50",
    )
    show = add(
        actions,
        "show",
        _show_credits,
        "show a user's balance and latest bookings",
        "quarry credits show ada",
        remote=_show_own_credits,
    )
    show.add_argument(
        "user",
        metavar="USER",
        nargs="?",
        type=user_name,
        help="none with --server; locally a name; deployed, the user's Cognito `sub`",
    )
    add_json(show)
    give = add(actions, "grant", _grant_credits, "give a user credits", "quarry credits grant ada 50")
    give.add_argument("user", metavar="USER", type=user_name, help="as above")
    give.add_argument("credits", metavar="N", type=positive, help="how many to add")
    add_json(give)
