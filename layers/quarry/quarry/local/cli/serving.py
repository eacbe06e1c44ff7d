"""Commands that serve."""

from __future__ import annotations

from quarry.local.cli.parsing import DONE, Arguments, Commands, add, port


def _serve(given: Arguments) -> int:
    from quarry.local.server import serve

    serve(given.host, given.port, open_page=given.open)
    return DONE


def _demo(given: Arguments) -> int:
    from quarry.local.server import demo

    demo(given.host, given.port, open_page=given.open)
    return DONE


def add_to(commands: Commands) -> None:
    for name, run, summary in (
        ("serve", _serve, "serve the whole API on one port"),
        ("demo", _demo, "load the sample data where it is missing, then serve"),
    ):
        parser = add(commands, name, run, summary, f"quarry {name} --port 8081")
        parser.add_argument("--host", default="127.0.0.1", help="the address to serve on (default: %(default)s)")
        parser.add_argument("--port", type=port, default=8080, help="default: %(default)s; 0 takes a free one")
        parser.add_argument("--open", action="store_true", help="open the page in a browser")
