"""`quarry tools`: the definitions of the tools for agents, as JSON on stdout."""

from __future__ import annotations

from typing import Literal

from quarry.api.agents import offer
from quarry.core.agent_tools import openai_format
from quarry.local.telling import write_json


def print_tools(format: Literal["openai", "mcp"]) -> None:
    """The tools in OpenAI's function format, or as `POST /mcp` lists them."""
    offered = offer().tools
    write_json(openai_format(offered) if format == "openai" else [tool.listing for tool in offered])
