"""The domains that can be asked as models of chat completions, and the routes that serve them."""

from quarry.core.completions import Answer
from quarry.core.web.openai_routes import openai_router
from quarry.domains import modules, searched_tables

ANSWERS: dict[str, Answer] = {domain: module.answer for domain, module in modules("completion").items()}

ROUTERS = (openai_router(ANSWERS, searched_tables()),)
