"""How the events of a chat about campaigns look in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from quarry.campaigns.contract import (
    AGGREGATED,
    Campaign,
    ChatRequest,
    ChatResponse,
    FinalAnswerEvent,
    ToolCallEvent,
    ToolObservationEvent,
)
from quarry.local.askable import Askable, View
from quarry.local.terminal import printable
from quarry.streaming.events import EnvelopedErrorEvent, PartialTextEvent

SHOWN_CAMPAIGNS = 8
BAR_WIDTH = 24


class ChatView(View):
    """The events of an answer, readable: searches, answer, campaigns, counts as bars, what to ask next."""

    def show(self, event: BaseModel) -> None:
        match event:
            case ToolCallEvent():
                self._tool_call(event.data.tool, event.data.arguments)
            case ToolObservationEvent():
                self._line(f"  {event.data.summary}", "dim")
            case PartialTextEvent():
                self._write(event.data.text)
            case FinalAnswerEvent():
                self._end(event.data)

    def _end(self, answer: ChatResponse) -> None:
        self._end_answer()
        if answer.campaigns:
            self._campaigns(answer.campaigns, answer.total, is_more=answer.more)
        if answer.aggregation:
            for name in AGGREGATED:
                self._bars(name.replace("_", " "), getattr(answer.aggregation, name))
        self._ask_next(answer.suggestions)
        self._tell_degraded(answer.telemetry.degraded_steps)

    def _campaigns(self, campaigns: Sequence[Campaign], total: int, *, is_more: bool) -> None:
        self._console.print()
        self._line(f"Campaigns ({'at least ' if is_more else ''}{total})", "bold")
        table = Table.grid(padding=(0, 1))
        for style in ("", "dim", ""):
            table.add_column(style=style)
        for campaign in campaigns[:SHOWN_CAMPAIGNS]:
            cells = (campaign.brand or campaign.company, campaign.channel, campaign.offer or "–")
            table.add_row(*(Text(printable(cell)) for cell in cells))
        self._console.print(table, soft_wrap=False)
        if total > SHOWN_CAMPAIGNS:
            self._line(f"… and {total - min(SHOWN_CAMPAIGNS, len(campaigns))} more", "dim")

    def _bars(self, name: str, counts: dict[str, int]) -> None:
        if not counts:
            return
        self._console.print()
        self._line(f"By {name}", "bold")
        most = max(counts.values())
        table = Table.grid(padding=(0, 1))
        table.add_column()
        table.add_column(style="cyan")
        table.add_column(justify="right")
        for value, count in list(counts.items())[:SHOWN_CAMPAIGNS]:
            table.add_row(Text(printable(value)), "█" * max(1, round(BAR_WIDTH * count / most)), str(count))
        self._console.print(table, soft_wrap=False)


ASKABLE = Askable(
    lambda question: ChatRequest(message=question),
    ("quarry.campaigns.search", "chat_about_campaigns"),
    lambda client, question: client.ask_campaigns(question),
    ChatView,
    EnvelopedErrorEvent.saying,
)
