"""`quarry tools`: the definitions of the tools for agents, as JSON on stdout."""

from __future__ import annotations

import json
from typing import Literal

from quarry.api.agents import offer
from quarry.core.agent_tools import openai_format


def print_tools(format: Literal["openai", "mcp"]) -> None:
    """The tools in OpenAI's function format, or as `POST /mcp` lists them."""
    offered = offer().tools
    tools = openai_format(offered) if format == "openai" else [tool.listing for tool in offered]
    print(json.dumps(tools, indent=2, ensure_ascii=False))
