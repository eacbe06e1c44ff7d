"""The domains that can be asked as models of chat completions, and the routes that serve them."""

from functools import partial

from quarry.agent.completions import Answer, Asked, Said
from quarry.domains import having, module, searched_tables
from quarry.web.openai_routes import openai_router


async def _answer(domain: str, asked: Asked) -> Said:
    # imported with the first question
    said: Said = await module(domain, "completion").answer(asked)
    return said


ANSWERS: dict[str, Answer] = {domain: partial(_answer, domain) for domain in having("completion")}

ROUTERS = (openai_router(ANSWERS, searched_tables),)
