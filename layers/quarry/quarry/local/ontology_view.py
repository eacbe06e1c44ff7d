"""How the entities of a workspace look in the terminal."""

from __future__ import annotations

from pydantic import BaseModel
from rich.text import Text

from quarry.local.askable import Askable, View
from quarry.local.terminal import printable
from quarry.ontology.contract import OntologySearchRequest, OntologySearchResponse
from quarry.platform.text import marked_parts


class EntityListView(View):
    """The found entities, best first: type and title, project and id, snippet with the matched words in bold."""

    def show(self, event: BaseModel) -> None:
        assert isinstance(event, OntologySearchResponse)
        for result in event.results:
            self._console.print(Text.assemble((f"{result.type}  ", "cyan"), (printable(result.title), "bold")))
            facts = [*([result.project_name] if result.project_name else []), result.id, f"{result.score:.3f}"]
            self._line("  " + " · ".join(facts), "dim")
            self._console.print(Text("  ").append_text(_snippet(result.snippet)))
        self._console.print(Text(event.message, "" if event.results else "yellow"))


def _snippet(marked: str) -> Text:
    text = Text()
    for part, is_match in marked_parts(marked):
        text.append(" ".join(printable(part).split("\n")), "bold" if is_match else "")
    return text


ASKABLE = Askable(
    lambda question: OntologySearchRequest(query=question),
    ("quarry.ontology.search", "search_ontology"),
    lambda client, question: client.search_ontology(question),
    EntityListView,
)
