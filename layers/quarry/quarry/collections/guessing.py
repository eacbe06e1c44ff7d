"""What a column is likely to hold, by its name, its type and the planner's statistics: for drafts, which people read over."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from quarry.collections.relations import Column, Relation, is_date_type
from quarry.language.word_forms import is_everyday, singular
from quarry.spans.places import AREAS

FACET_VALUES_MAX = 50
"""A short text of so many values is a category. Enumerations always are."""

FEW_ROWS = 50
"""Of fewer rows it cannot be told whether values come again: names decide too."""

PROSE_WIDTH = 60
"""A text of so many bytes on average is written in sentences."""
LABEL_WIDTH = 20
"""Names of kinds of things are on average no longer, in bytes."""
SHORT_WIDTH = 12
"""What is assumed of a text's width in bytes before ANALYZE, where its name does not promise prose."""

DatePurpose = Literal["happened", "created", "other", "later", "bookkeeping"]

_PROSE = frozenset(
    """description body content contents text note notes comment comments summary message abstract bio biography about details
    review remark remarks resolution question answer reason instructions plot lyrics transcript overview narrative story
    feedback excerpt synopsis blurb beschreibung inhalt inhalte notiz notizen bemerkung bemerkungen anmerkung anmerkungen
    kommentar zusammenfassung anleitung descripcion contenido texto nota notas comentario comentarios resumen observaciones
    instrucciones contenu texte commentaire commentaires remarque remarques descrizione descricao beschrijving""".split()
)
_CATEGORIES = frozenset(
    """status state type kind category rating priority level stage severity gender department language currency source channel
    role segment tier plan genre format mode class zustand kategorie sprache geschlecht stufe estado tipo categoria idioma
    etat categorie langue""".split()
)
_PLACES = AREAS | frozenset(
    "stadt ort gemeinde dorf land kreis ciudad pais provincia ville pays departement citta paese cidade".split()
)
_NUMBERED = frozenset(
    """id uuid guid code no number num nr key version position sort ordinal sequence rank lat latitude lng lon longitude zip
    phone fax""".split()
)
_MACHINE = frozenset(
    """id uuid guid slug path filename mime ip locale timezone tz color colour checksum etag useragent""".split()
)
_CONTACT = frozenset("email mail phone tel telephone mobile fax address street zip zipcode postcode postal".split())
_ADDRESSES = frozenset("url uri link href website webpage homepage permalink".split())
_PICTURES = frozenset("image img picture photo avatar icon logo thumbnail thumb cover banner".split())
_PEOPLE = frozenset(
    "user person people employee agent author member staff teacher student patient doctor actor".split()
)
_BUYERS = frozenset("customer client buyer guest passenger shopper subscriber patron purchaser".split())
_SERVING = frozenset(
    """staff employee agent driver doctor mechanic teacher manager rep representative clerk cashier waiter nurse technician
    officer operator assistant worker""".split()
)
_SALES = frozenset(
    "order invoice sale purchase booking ticket basket cart checkout receipt payment rental transaction".split()
)
_SCOPES = frozenset("tenant account organisation organization org workspace owner".split())

TO, FROM = frozenset("recipient receiver addressee".split()), frozenset("sender".split())
"""What columns are called that say who a message is for, and who it is from."""

_BOOKKEEPING = frozenset(
    """updated update modified modify changed change deleted archived synced sync refreshed last
    geandert aktualisiert actualizado modificado modifie""".split()
)
_LATER = frozenset(
    """birth birthday birthdate born dob due deadline end ends ended shipped required return returned closed resolved
    expires expiry expiration expire expired valid until""".split()
)
_CREATED = frozenset(
    "created create creation inserted added registered joined erstellt angelegt creado cree ajoute".split()
)
_HAPPENED = frozenset(
    """happened occurred posted published released order ordered invoice invoiced paid payment sent received visited event
    transaction rented rental purchased booked hired started date day timestamp listed opened reported held taken made
    departed bought sold signed acquired founded scheduled issued called raised filed lodged logged submitted requested placed
    datum fecha data erworben gekauft verkauft veroffentlicht publicado publie""".split()
)
_WRITTEN_SHORT: Mapping[str, str] = {
    "addr": "address", "amt": "amount", "avg": "average", "cnt": "count", "cust": "customer", "dept": "department",
    "dob": "birth date", "dt": "date", "emp": "employee", "loc": "location", "mgr": "manager", "msg": "message", "nm": "name",
    "pct": "percent", "wt": "weight", "yr": "year",
}  # fmt: skip
"""What everybody shortens in the names of columns."""
_TAILS = """address country update number status amount count title phone email price date name time code type text year url
    id""".split()
"""What the last word of a name often is where words are run together: `creationdate`, `owneruserid`."""
_HEAD_CHARACTERS_MIN = 4

_NAMES_IN: Mapping[str, frozenset[str]] = {
    language: frozenset(said.split())
    for language, said in {
        "german": """beschreibung bezeichnung titel betreff inhalt bemerkung bemerkungen anmerkung notiz notizen kommentar
            zusammenfassung datum jahr preis betrag kosten menge anzahl kunde kundin kunden ort stadt land strasse plz nummer art
            gewicht lange breite hohe grosse farbe zustand standort hersteller verlag autor kunstler kuenstler erstellt erworben
            geandert aktualisiert gekauft verkauft gultig kategorie sprache vorname nachname geburtsdatum baujahr
            erscheinungsjahr entstehungsjahr schlagworte stichworte aktiv verfugbar abgeschlossen bezahlt lieferant
            ansprechpartner abteilung mitarbeiter dauer raum gebuhr miete zimmer flache werkstoff inventarnummer bestellnummer
            rechnungsnummer""",
        "spanish": """descripcion titulo nombre asunto contenido texto nota notas comentario comentarios resumen observaciones
            fecha ano precio importe coste cantidad numero cliente ciudad pais calle codigo peso longitud anchura altura color
            estado ubicacion fabricante editorial autor artista creado actualizado comprado vendido categoria idioma apellido
            apellidos nacimiento etiquetas activo disponible pagado proveedor duracion direccion telefono habitaciones superficie
            instrucciones""",
        "french": """titre nom intitule objet contenu texte commentaire commentaires remarque remarques resume annee prix montant
            cout quantite nombre numero client ville pays rue poids longueur largeur hauteur couleur etat emplacement fabricant
            editeur auteur artiste cree modifie ajoute achete vendu categorie langue prenom naissance disponible paye fournisseur
            duree adresse loyer pieces""",
    }.items()
}
"""What columns are called in other languages than English that every Postgres can read."""
_NAMED_MIN, _NAMED_SHARE = 2, 1 / 3


def language_of(names: Sequence[str]) -> str | None:
    """The text search configuration of the language that columns are called in, where that is plainly another than English."""
    said = [{*words(name)} for name in names]
    known = {language: sum(bool(each & own) for each in said) for language, own in _NAMES_IN.items()}
    best = max(known, key=lambda language: known[language])
    is_plain = known[best] >= max(_NAMED_MIN, len(said) * _NAMED_SHARE) and [*known.values()].count(known[best]) == 1
    return best if is_plain else None


@lru_cache(maxsize=10_000)
def words(name: str) -> tuple[str, ...]:
    """The words that a name is made of, in lower case and without accents: as `orderDate`, `order_date` or
    `orderdate`.
    """
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    said = (part for word in re.split(r"[\W_]+", parted.casefold()) if word for part in _parted(word))
    return tuple(full for part in said for full in _WRITTEN_SHORT.get(part, part).split())


def written_out(name: str) -> str:
    """A name as it is, or with all its words where some are shortened: `seat_count` of `seat_cnt`."""
    is_short = any(part in _WRITTEN_SHORT for part in re.split(r"[\W_]+", name.casefold()))
    return "_".join(words(name)) if is_short else name


def _parted(word: str) -> tuple[str, ...]:
    """The words that one without capitals was run together of, as Postgres leaves a name that was written without quotes."""
    for tail in _TAILS:
        head = word.removesuffix(tail)
        if len(word) > len(head) >= _HEAD_CHARACTERS_MIN and not is_everyday(word):
            return (*_parted(head), tail)
    return (word,)


def is_writable(name: str) -> bool:
    """Whether a declaration can say a column's name: braces make a template, % a parameter, and outer space is dropped."""
    return name == name.strip() and not set(name) & set("{}%")


def is_text(column: Column) -> bool:
    """Whether it holds characters for people."""
    return column.category == "S" and not column.is_array and column.base not in ('"char"', "name")


def is_prose(column: Column) -> bool:
    """Whether it is a text of sentences: by its name, unless it is measured to be short, or by its width."""
    is_called_so = bool(_PROSE & {*words(column.name)}) and (column.width or PROSE_WIDTH) > LABEL_WIDTH
    return is_text(column) and (is_called_so or (column.width or 0) >= PROSE_WIDTH)


def is_machine_text(column: Column) -> bool:
    """Whether it is a text that nobody looks for by a word: identifiers, paths, addresses of pictures."""
    said = words(column.name)
    return bool(said) and (said[-1] in _MACHINE or "".join(said) in _MACHINE or is_address(column))


def is_contact(column: Column) -> bool:
    """Whether it says where somebody is reached."""
    return is_text(column) and any(word.rstrip("0123456789") in _CONTACT for word in words(column.name))


def is_numbered(column: Column) -> bool:
    """Whether it is a number or code that names something, of whatever type."""
    said = words(column.name)
    return bool({*said[-1:]} & _NUMBERED) or "".join(said[-2:]) in _NUMBERED


def are_people(name: str) -> bool:
    """Whether the rows of a table that is called so are people."""
    return _is_called(words(name)[-1:], _PEOPLE | _SERVING | {"owner"})


def _is_called(said: Sequence[str], names: frozenset[str]) -> bool:
    return not names.isdisjoint(map(singular, said))


def is_role(column: Column) -> bool:
    """Whether, of a person, it says what their work is."""
    said = words(column.name)
    return is_text(column) and "".join(said) in ("title", "position", "jobtitle", "occupation", "profession")


def is_address(column: Column) -> bool:
    """Whether it holds the address of a page."""
    said = words(column.name)
    return is_text(column) and bool(_ADDRESSES & {*said, "".join(said), "".join(said[-2:])})


def is_page(column: Column) -> bool:
    """Whether it holds the address of a page about the row, not of a picture."""
    return is_address(column) and not _PICTURES & {*words(column.name)}


def is_scope(column: Column) -> bool:
    """Whether it may say whose the row is, as what tells callers apart does: not by the names of owners, which rows tell of."""
    said = words(column.name)
    return (
        bool(said) and said[0] in _SCOPES and said[1:] in ((), ("id",), ("uuid",), ("key",)) and not names_owner(column)
    )


def names_owner(column: Column) -> bool:
    """Whether it holds the names of owners, as far as its values were seen."""
    return words(column.name)[1:] == () and is_text(column) and column.seen is not None and column.seen.are_names


def is_correspondent(column: Column, ends: frozenset[str]) -> bool:
    """Whether it says who a message is for or from, one of `ends`, by its last word or the one before a key's."""
    said = words(column.name)
    return not column.is_array and bool(ends & {*said[-1:], *(said[-2:-1] if is_numbered(column) else ())})


def is_place(column: Column, relation: Relation) -> bool:
    """Whether it names a place. A state is one beside a city, and a condition elsewhere."""
    said = [word for word in words(column.name) if word != "name"]
    if not said or not is_text(column):
        return False
    beside = {word for other in relation.columns for word in words(other.name)}
    return said[-1] in _PLACES or (said[-1] == "state" and bool(beside & {"city", "zip", "zipcode", "postcode"}))


def is_category(column: Column, rows: int | None) -> bool:
    """Whether it holds one of few values, each many times; before ANALYZE its name decides, and where rows are few."""
    if column.category == "E" and not column.is_array:
        return True
    if not _may_be_label(column):
        return False
    is_called_one = is_called_category(column)
    count = _values(column, rows)
    if rows is None or count is None:
        return is_called_one
    return (is_called_one and rows < FEW_ROWS) or 1 < count <= min(FACET_VALUES_MAX, rows / 2)


def comes_again(column: Column, rows: int | None) -> bool:
    """Whether, of few rows, which cannot hold each value many times, some have the same short text."""
    count = _values(column, rows)
    if rows is None or count is None or rows >= FEW_ROWS or text_width(column) > LABEL_WIDTH:
        return False
    return _may_be_label(column) and 1 < round(count) < rows


def _may_be_label(column: Column) -> bool:
    return is_text(column) and not (is_prose(column) or is_contact(column) or is_numbered(column))


def _values(column: Column, rows: int | None) -> float | None:
    """How many values it is estimated to hold; None before ANALYZE."""
    if column.distinct is None or column.distinct >= 0:
        return column.distinct
    return None if rows is None else -column.distinct * rows


def is_called_category(column: Column) -> bool:
    """Whether its name says that it holds one of few values."""
    return bool(_CATEGORIES & {*words(column.name)})


def is_buyer(name: str) -> bool:
    """Whether what is called so buys: customers, clients, guests."""
    return _is_called(words(name), _BUYERS)


def serves(name: str) -> bool:
    """Whether what is called so are people who do their work: staff, doctors."""
    return _is_called(words(name), _SERVING)


def is_sale(name: str) -> bool:
    """Whether the rows of a table that is called so are sales, or parts of these."""
    return _is_called(words(name), _SALES)


def is_date(column: Column) -> bool:
    """Whether it is a day or a moment, not a time of day."""
    return not column.is_array and is_date_type(column.base)


def is_due(column: Column) -> bool:
    """Whether a date is until when something is to be done."""
    return not {"due", "deadline"}.isdisjoint(words(column.name))


def date_purpose(column: Column) -> DatePurpose:
    """What the moment is of: what the row tells of, its being written, what came of it later, its last change."""
    said = {*words(column.name)}
    if said & _BOOKKEEPING or any(word.startswith("last") for word in said):
        return "bookkeeping"
    if said & _LATER:
        return "later"
    if said & _CREATED:
        return "created"
    return "happened" if said & _HAPPENED else "other"


def text_width(column: Column) -> int:
    """Bytes of a text on average, as measured or else as its name promises."""
    return column.width or (PROSE_WIDTH if is_prose(column) else SHORT_WIDTH)
