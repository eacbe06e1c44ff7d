"""What a question asks something of, and whether a text speaks of it."""

from __future__ import annotations

import pytest

from quarry.records.deeds import asked_deed, names_in_passing
from tests.linear.measuring import assert_linear, repeated


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("Who built the mill?", "The builder of the mill was Ada Palmer.", "The mill was sold by Ada Palmer."),
        ("Who drives the bus?", "The bus has a new driver.", "The bus is new."),
        ("Who taught the course?", "Boris Krug teaches this course.", "Boris Krug liked the course."),
        ("How much did the new lock cost?", "The lock was $9.", "The door was $9."),
        ("and who repaired it", "It was repaired by two masons.", "Two masons looked at it."),
        ("Who will open the fair?", "Ada opens the fair.", "Ada likes the fair."),
        ("Who is the new miller?", "Ada is the miller.", "Ada sold the boat."),
        ("Who voted against the weir?", "The weir was carried, Ada against.", "Ada spoke of the weir."),
        ("Who opposed the weir?", "The weir was carried, Ada against.", "Ada spoke of the weir."),
        ("Who moved the motion on the weir?", "It was moved that the weir be mended.", "The weir was mended."),
        ("Who is buried here?", "Ada was buried at noon.", "Burials are at noon."),
        ("When was the mill built?", "The mill was built by Ada.", "The boat was built beside it."),
        ("When was the tool shed broken into?", "Somebody broke open the shed.", "The shed is new."),
        ("When will the mill be sold?", "Ada sells the mill.", "The mill stands."),
        ("When was the fish sent?", "She sends fish.", "She likes fish."),
        ("Where does Ada live?", "Ada lives in Ay.", "Ada went to Ay."),
        ("What was the mill used for?", "They used the mill as a barn.", "They saw the mill."),
        ("How much does a fishing permit cost?", "A permit for fishing is $9.", "A permit for fires is $9."),
        ("How much did they pay for the roof?", "The roof was $9.", "The door was $9."),
        ("How much does it cost to keep the elm standing?", "Keeping an elm is dear.", "The trees are dear."),
        ("How much is paid for the broken lock?", "The lock burst.", "The door burst."),
        ("How old is the winner?", "Ada, 9, won.", "Ada, 9, lost."),
        ("Where did Ada Palmer die?", "Ada Palmer died in Ay.", "Ada Palmer dined in Ay."),
        ("When was the inn built?", "The inn was a mill; building it took a year.", "The building is an inn."),
        ("When was the old inn built?", "Masons built the inn.", "The inn is the oldest of nine buildings."),
        ("How did Ada Palmer die?", "Ada Palmer died of a fever.", "Ada Palmer owned the mill."),
        ("Who became miller of Ay?", "Ada is the new miller of Ay.", "Ada came to Ay."),
        ("Which mason built the mill?", "The mill was built by Ada.", "The mill is old."),
        ("Which mason built the mill?", "Ada, a mason, had the mill in hand.", "The mill is old."),
        ("Which school does Ada attend?", "Ada is at a school in Ay.", "Ada is in Ay."),
        ("Which shop was robbed in May?", "They robbed it in May.", "It rained in May."),
        ("Which mill may sell flour?", "The mill has flour.", "The flour is white."),
        ("What breed is the mill's dog?", "The dog of the mill is of an old breed.", "The mill has a dog."),
        ("How many guests were hurt at the fair?", "Guests were hurt.", "The fair had 40 guests."),
        ("How many homes will be built in Ay?", "They build homes in Ay.", "There are homes in Ay."),
        ("How many eggs did the hen lay?", "The hen laid eggs.", "The hen likes eggs."),
        ("How much does the miller earn a year?", "The miller earns $9.", "The miller is rich."),
        ("How long did it take to build the mill?", "Building the mill was slow.", "The mill is old."),
        ("Who drove the red van that hit the old shed?", "Ada drove a red van.", "Ada drove to the shed."),
        ("How old is Ms Palmering?", "Ms Palmering is 40.", "Ms Lind is 40."),
        ("Who is the miller of Ay?", "The miller of Ay is Øyvind Palm.", "The miller of Ay came on Friday in May."),
        ("Who is the miller?", "Ada Palmer, Miller\nThe weir is old.", "Ada Palmer, Mason\nThe miller is late."),
        ("What is the name of the miller's dog?", "The miller has a dog, Juno.", "The miller has a dog."),
        ("What is the dog of the mill called?", "Juno is the dog of the mill.", "The mill has a dog."),
        ("What breed of dog lives at the mill?", "The mill has a dog of an old breed.", "The mill has a dog."),
    ],
)
def test_it_is_told_where_it_is_spoken_of_beside_what_stands_with_it(question: str, told: str, untold: str) -> None:
    deed = asked_deed(question)
    assert deed is not None
    assert deed.is_told(told)
    assert not deed.is_told(untold)


def test_of_what_stands_alone_anything_else_that_is_asked_is_spoken_of_with_it() -> None:
    deed = asked_deed("Who spoke?")
    assert deed is None
    deed = asked_deed("Who spoke of the weir?")
    assert deed is not None
    assert deed.is_told("Ada spoke of a weir.", frozenset(["weir", "spoke"]))
    assert not deed.is_told("Ada spoke of fish.", frozenset(["weir", "spoke"]))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("When was the Old Mill built?", "say when the Old Mill was built"),
        ("When will the mill be sold?", "say when the mill will be sold"),
        ("Where does Ada live?", "say where Ada does live"),
        ("Who is the miller of Ay?", "say who is the miller"),
        ("How much does a fishing permit cost?", "speak of “a fishing permit”"),
    ],
)
def test_it_is_named_in_the_words_of_the_question(question: str, name: str) -> None:
    deed = asked_deed(question)
    assert deed is not None
    assert deed.name == name


@pytest.mark.parametrize(
    "question",
    [
        "Who made the most errors?",
        "Who did better at milling, Ay or Bree?",
        "Who wanted to keep the mill?",
        "How did the thief nick Ada's flour?",
        "Who?",
        "Who is it?",
        "What did Ada say who built it?",
        "What did Ada say about the price of the mill?",
        "When did it begin?",
        "When does Ada read the news?",
        "When do the games start on July 4?",
        "Where did they put what had come down the river with the flood?",
        "What is the speed of light?",
        "What is the fine for smoking?",
        "Did Ada sell the mill?",
        "Did Ada Palmer resign?",
        "Is the mill insured?",
        "Why did the mill burn?",
        "What went wrong with the mill?",
        "What percentage of the flour burnt?",
        "Did prices rise?",
        "What promises were given to Ay?",
        "Which day was the mill built?",
        "How long did it take to get the mill?",
        "How many mills are there?",
        "How much would mending the mill cost?",
        "Why was the mill turned down?",
        "What is it called?",
        "How many mills will there be",
        "Which?",
        "Which mill?",
    ],
)
def test_what_may_be_told_in_other_words_is_no_deed(question: str) -> None:
    assert asked_deed(question) is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Why does the silt come back so fast?", {"come", "fast"}),
        ("Why was the new mill turned down?", {"new", "turned"}),
        ("Why was the mill out on the hill sold?", set()),
        ("Who is allowed to see the mill at the moment?", {"allowed", "see", "moment"}),
        ("What was behind the sale of the mill, and who got nothing?", {"behind", "nothing"}),
        ("", set()),
    ],
)
def test_what_says_little_and_verbs_with_a_particle_are_named_in_passing(question: str, words: set[str]) -> None:
    assert names_in_passing(question) == words


@pytest.mark.parametrize(
    "unit",
    [
        "was ",
        "cost ",
        "how much ",
        "what cost a ",
        "a ",
        "and ",
        "who is the ",
        "which ",
        "how long did it take to ",
        "(",
    ],
)
def test_twice_the_question_takes_about_twice_as_long(unit: str) -> None:
    def read(text: str) -> None:
        for beginning in (
            "who ",
            "who is ",
            "when was ",
            "when did ",
            "how much ",
            "how much does ",
            "how old is ",
            "how many ",
            "which ",
            "what is the name of ",
        ):
            asked_deed(beginning + text)
        names_in_passing(text)

    assert_linear(read, repeated(unit), 1000)
