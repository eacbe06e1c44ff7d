"""Which quantity is asked for, and whether a text tells it."""

from __future__ import annotations

import pytest

from quarry.records.quantities import QUANTITIES, Count, asked_count, asked_quantity
from tests.linear.measuring import assert_linear, repeated


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("How old is the mayor?", "Mayor Lind, 61, resigned.", "Mayor Lind resigned in 2024."),
        ("How old is the mayor?", "The mayor was born in Oslo in 1960.", "The mayor came to 3 meetings."),
        ("How old is the wall?", "The 1874 wall fell.", "The wall fell on 3 May 2021."),
        ("How old is the wall?", "Masons built it in 1874.", "Masons mended it for $900."),
        ("What is the harbour master's salary?", "He has £90,000.", "He has 9 bees."),
        ("What does parking cost?", "Visitors pay £2 an hour.", "Visitors may park for 2 hours."),
        ("How much does the chief earn?", "The chief has ninety thousand dollars.", "The chief serves 9 towns."),
        ("What is the fee?", "Entry is free.", "Entry is by the door."),
        ("What does the crab weigh?", "A crab of 3.9 kilos.", "A crab of 3.9 pence."),
        ("How heavy is the bell?", "It weighs two tons.", "It rang two times."),
        ("How deep is the lake?", "The lake is nine metres deep.", "The lake is by the road."),
        ("How high is the mast?", "A mast of 20 metres.", "It took 3 days."),
        ("How far is the beach?", "Ten minutes on foot.", "It is by the road."),
        ("Why was the mill sold?", "To save the weir.", "They gave it to the town."),
        ("How long did the strike last?", "After twelve days they went back.", "They went back for 6.5 percent."),
        ("How long is the tunnel?", "It is 70 metres long.", "It leads to the beach."),
        ("How hot was it?", "It reached 94 degrees.", "It reached 94 people."),
        ("What is the phone number of the library?", "Call 555-0134.", "Call on 3 May."),
        ("How old is the cook?", "He is fifty-two and sings.", "He is here and has two sons."),
        (
            "How many lead pipes are left?",
            "There were 3,260 of the lead pipes.",
            "Of the pipes nothing is known since 1999.",
        ),
        ("How many women rowed?", "Nine of them were women.", "On 9 May rain fell. The women rowed."),
        ("How many goats balked?", "Two balked at the gate.", "The goats balked at two gates."),
        ("How many pupils came?", "Of them 30 were pupils.", "Ward 30\nPupils came."),
        ("How long did the course last?", "It went on for a week.", "A week later they met again."),
        ("How long is the tunnel shut?", "From May to July.", "It leads away from the beach."),
        ("How much is the boat worth?", "It may bring $900.", "It may bring 9 guests."),
        ("When was the mill sold?", "They sold it after the flood.", "They sold it for a song."),
        ("When may one visit?", "Come in May.", "One may visit."),
        ("What time does it begin?", "At 10:30 sharp.", "In hall 10 or 11."),
        ("And when does it shut?", "It shuts at six.", "It has shut six doors."),
        ("What colour was the boat?", "A reddish boat.", "A wooden boat."),
        ("Why was the mill sold?", "It was sold because nobody ground.", "It was sold. Ada bought it."),
        ("What caused the leak?", "A pipe had burst.", "A pipe leaks in the yard."),
        ("How many kilns does the potter have?", "Kilns: 4", "The kiln was lit at 4 in the morning."),
    ],
)
def test_a_quantity_is_told_with_its_unit(question: str, told: str, untold: str) -> None:
    quantity = asked_quantity(question)
    assert quantity is not None
    assert quantity.is_told(told)
    assert not quantity.is_told(untold)


@pytest.mark.parametrize(
    "question",
    [
        "How many people came?",
        "Who paid for the bridge?",
        "How much silt was taken out?",
        "How long ago was it?",
        "What did he think about the cost of training?",
        "Where is the old mill?",
    ],
)
def test_what_is_told_in_any_words_is_no_quantity(question: str) -> None:
    assert asked_quantity(question) is None


@pytest.mark.parametrize(
    "unit", ["1 ", "a ", "1", "(", "how much ", "two ", "since ", "from ", "first ", ", 1", "the 1", "$"]
)
def test_twice_the_text_takes_about_twice_as_long(unit: str) -> None:
    def read(text: str) -> None:
        for quantity in QUANTITIES:
            quantity.is_told(text)
        Count("number of twos", "two").is_told(text)

    def read_question(text: str) -> None:
        for quantity in QUANTITIES:
            quantity.is_asked(text)
        asked_count(f"how many {text}")

    assert_linear(read, repeated(unit), 10_000)
    assert_linear(read_question, repeated(unit), 1000)
