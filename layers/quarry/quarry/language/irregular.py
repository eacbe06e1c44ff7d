"""Forms of English words that no stem brings together: "break", "broke" and "broken", "bus" and "buses"."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.language.stemming import stem

BE = frozenset("is are was were".split())
"""The forms of "be" that a sentence or a question turns on."""
_VERBS = """
bear bore borne; beat beaten; begin began begun; bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown;
break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen;
cling clung; creep crept; deal dealt; dig dug; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden;
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; give gave given; grow grew grown; hang hung;
hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led; leave left; lend lent; lose lost;
mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen; run ran; seek sought; sell sold; send sent;
shake shook shaken; shine shone; shoot shot; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; speak spoke spoken; spend spent; spin spun; spring sprang sprung; stand stood; steal stole stolen; stick stuck;
sting stung; strike struck stricken; swear swore sworn; sweep swept; swim swam swum; swing swung; take took taken;
teach taught; tear tore torn; think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn;
weave wove woven; win won; wind wound; withdraw withdrew withdrawn; write wrote written
"""
_NOUNS = """
analysis analyses; bus buses; calf calves; campus campuses; child children; crisis crises; foot feet; gas gases;
goose geese; half halves; knife knives; lens lenses; loaf loaves; man men; mouse mice; person people; scarf scarves;
shelf shelves; thief thieves; tooth teeth; wife wives; wolf wolves; woman women
"""
_FORMS: Mapping[str, tuple[str, ...]] = {
    stem(form): tuple(word.split()) for word in f"{_VERBS};{_NOUNS}".split(";") for form in word.split()
}
_PAST = frozenset(form for verb in _VERBS.split(";") for form in verb.split()[1:])


def other_forms(word: str) -> tuple[str, ...]:
    """The other forms of an irregular verb or noun, if `word` is one of it or of its regular ones ("breaks")."""
    return tuple(form for form in _FORMS.get(stem(word), ()) if stem(form) != stem(word))


def is_past(word: str) -> bool:
    """Whether `word` is the past tense or a participle of an irregular verb."""
    return word in _PAST
