"""Countries and parts of the world as people name them. Pure data but for the look-up."""

from __future__ import annotations

import re
from functools import cache

from quarry.companies.vocabulary import PhraseBook

# A country's usual name, then other names of it and what its people and things are called.
_COUNTRIES: dict[str, str] = {
    "Argentina": "argentine, argentinian",
    "Australia": "australian, aussie",
    "Austria": "austrian",
    "Bangladesh": "bangladeshi",
    "Belgium": "belgian",
    "Bermuda": "bermudian",
    "Bolivia": "bolivian",
    "Brazil": "brazilian, brasil",
    "Bulgaria": "bulgarian",
    "Cambodia": "cambodian",
    "Cameroon": "cameroonian",
    "Canada": "canadian",
    "Chile": "chilean",
    "China": "chinese",
    "Colombia": "colombian",
    "Costa Rica": "costa rican",
    "Croatia": "croatian",
    "Cyprus": "cypriot",
    "Czechia": "czech, czech republic",
    "Denmark": "danish",
    "Ecuador": "ecuadorian",
    "Egypt": "egyptian",
    "Estonia": "estonian",
    "Ethiopia": "ethiopian",
    "Finland": "finnish",
    "France": "french",
    "Germany": "german, deutschland",
    "Ghana": "ghanaian",
    "Greece": "greek",
    "Hong Kong": "",
    "Hungary": "hungarian",
    "Iceland": "icelandic",
    "India": "indian",
    "Indonesia": "indonesian",
    "Iran": "iranian",
    "Ireland": "irish",
    "Israel": "israeli",
    "Italy": "italian",
    "Ivory Coast": "ivorian, côte d'ivoire",
    "Jamaica": "jamaican",
    "Japan": "japanese",
    "Kazakhstan": "kazakh",
    "Kenya": "kenyan",
    "Latvia": "latvian",
    "Lebanon": "lebanese",
    "Lithuania": "lithuanian",
    "Luxembourg": "luxembourgish",
    "Malaysia": "malaysian",
    "Malta": "maltese",
    "Mexico": "mexican",
    "Moldova": "moldovan",
    "Morocco": "moroccan",
    "Nepal": "nepali, nepalese",
    "Netherlands": "dutch, holland",
    "New Zealand": "kiwi, new zealander",
    "Nigeria": "nigerian",
    "Norway": "norwegian",
    "Oman": "omani",
    "Pakistan": "pakistani",
    "Panama": "panamanian",
    "Peru": "peruvian",
    "Philippines": "filipino, philippine",
    "Poland": "",
    "Portugal": "portuguese",
    "Qatar": "qatari",
    "Romania": "romanian",
    "Russia": "russian",
    "Rwanda": "rwandan",
    "Saudi Arabia": "saudi, saudi arabian",
    "Senegal": "senegalese",
    "Serbia": "serbian",
    "Singapore": "singaporean",
    "Slovakia": "slovak",
    "Slovenia": "slovenian",
    "South Africa": "south african",
    "South Korea": "korea, korean, south korean",
    "Spain": "spanish",
    "Sri Lanka": "sri lankan",
    "Sweden": "swedish",
    "Switzerland": "swiss",
    "Taiwan": "taiwanese",
    "Tanzania": "tanzanian",
    "Thailand": "thai",
    "Tunisia": "tunisian",
    "Türkiye": "turkish",
    "Uganda": "ugandan",
    "Ukraine": "ukrainian",
    "United Arab Emirates": "emirati, emirates",
    "United Kingdom": "british, britain, great britain, england, english, scotland, scottish, wales, welsh",
    "United States": "american, united states of america",
    "Uruguay": "uruguayan",
    "Vietnam": "vietnamese",
    "Zambia": "zambian",
    "Zimbabwe": "zimbabwean",
}

_EUROPEAN_UNION = (
    "Austria, Belgium, Bulgaria, Croatia, Cyprus, Czechia, Denmark, Estonia, Finland, France, Germany, Greece, Hungary, Ireland, "
    "Italy, Latvia, Lithuania, Luxembourg, Malta, Netherlands, Poland, Portugal, Romania, Slovakia, Slovenia, Spain, Sweden"
)
_EAST_AFRICA = "Ethiopia, Kenya, Rwanda, Tanzania, Uganda"
_WEST_AFRICA = "Cameroon, Ghana, Ivory Coast, Nigeria, Senegal"
_SOUTH_ASIA = "Bangladesh, India, Nepal, Pakistan, Sri Lanka"
_SOUTHEAST_ASIA = "Cambodia, Indonesia, Malaysia, Philippines, Singapore, Thailand, Vietnam"
_SOUTH_AMERICA = "Argentina, Bolivia, Brazil, Chile, Colombia, Ecuador, Peru, Uruguay"

# What a region is called, and its countries.
_REGIONS: dict[str, str] = {
    "africa, african": f"{_EAST_AFRICA}, {_WEST_AFRICA}, Egypt, Morocco, South Africa, Tunisia, Zambia, Zimbabwe",
    "east africa, east african": _EAST_AFRICA,
    "west africa, west african": _WEST_AFRICA,
    "asia, asian": f"{_SOUTH_ASIA}, {_SOUTHEAST_ASIA}, China, Hong Kong, Japan, Kazakhstan, South Korea, Taiwan",
    "south asia, south asian": _SOUTH_ASIA,
    "southeast asia, south east asia, southeast asian": _SOUTHEAST_ASIA,
    "europe, european": f"{_EUROPEAN_UNION}, Iceland, Moldova, Norway, Serbia, Switzerland, Ukraine, United Kingdom",
    "european union": _EUROPEAN_UNION,
    "nordic, nordics, nordic countries": "Denmark, Finland, Iceland, Norway, Sweden",
    "scandinavia, scandinavian": "Denmark, Norway, Sweden",
    "baltics, baltic": "Estonia, Latvia, Lithuania",
    "benelux": "Belgium, Luxembourg, Netherlands",
    "eastern europe, eastern european": "Bulgaria, Czechia, Estonia, Hungary, Latvia, Lithuania, Moldova, Poland, Romania, "
    "Serbia, Slovakia, Ukraine",
    "latin america, latin american, latam": f"{_SOUTH_AMERICA}, Costa Rica, Mexico, Panama",
    "south america, south american": _SOUTH_AMERICA,
    "north america, north american": "Canada, Mexico, United States",
    "middle east, middle eastern": "Egypt, Iran, Israel, Lebanon, Oman, Qatar, Saudi Arabia, Türkiye, United Arab Emirates",
    "oceania": "Australia, New Zealand",
}

_OTHER_SPELLINGS: dict[str, str] = {
    "us": "United States", "usa": "United States", "united states of america": "United States",
    "uk": "United Kingdom", "great britain": "United Kingdom", "england": "United Kingdom", "scotland": "United Kingdom",
    "wales": "United Kingdom", "uae": "United Arab Emirates", "czech republic": "Czechia", "turkey": "Türkiye",
    "turkiye": "Türkiye", "holland": "Netherlands", "the netherlands": "Netherlands", "korea": "South Korea",
    "republic of korea": "South Korea", "viet nam": "Vietnam", "hong kong sar": "Hong Kong",
}  # fmt: skip
"""How data may spell a country, in lower case."""

# Everyday words in lower case: these count only as they are written here.
_AS_WRITTEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:US|USA|U\.S\.(?:A\.)?)(?!\w)"), "the United States"),
    (re.compile(r"\b(?:UK|U\.K\.)(?!\w)"), "the United Kingdom"),
    (re.compile(r"\bEU\b"), "the European Union"),
    (re.compile(r"\bUAE\b"), "the United Arab Emirates"),
    (re.compile(r"\bTurkey\b"), "Türkiye"),
    (re.compile(r"\bPolish\b"), "Poland"),
)
_IN_LOWER_CASE = re.compile(r"\b(?:in|from|based in|outside) the (us|uk|eu)\b")


def spelt_out(text: str) -> str:
    """`text` with the abbreviations of countries in full, so that they are not taken for everyday words."""
    text = _IN_LOWER_CASE.sub(lambda match: match.group().removesuffix(match[1]) + match[1].upper(), text)
    for pattern, name in _AS_WRITTEN:
        text = pattern.sub(name, text).replace("the the ", "the ")
    return text


@cache
def place_names() -> PhraseBook[str]:
    """The names of countries and regions, each with the countries that it means."""
    countries = ((phrase, name) for name, others in _COUNTRIES.items() for phrase in (name, *_listed(others)))
    regions = (
        (phrase, country)
        for names, members in _REGIONS.items()
        for phrase in _listed(names)
        for country in _listed(members)
    )
    return PhraseBook([*countries, *regions])


def country(name: str) -> str:
    """The usual name of a country, however it is spelt; another text as it is."""
    return _OTHER_SPELLINGS.get(name.strip().lower(), name.strip())


@cache
def spellings(name: str) -> tuple[str, ...]:
    """All that the data may call the country `name`, in lower case."""
    return (name.lower(), *(other for other, usual in _OTHER_SPELLINGS.items() if usual == name))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
