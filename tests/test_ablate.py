"""What can be left out when search is measured still exists and is still used."""

from __future__ import annotations

import importlib
import inspect
from functools import reduce
from typing import Any

import pytest

from tools.ablate import REFINEMENTS, Refinement


def found(refinement: Refinement) -> Any:
    return reduce(getattr, refinement.attribute.split("."), importlib.import_module(f"quarry.{refinement.module}"))


@pytest.mark.parametrize("refinement", REFINEMENTS, ids=lambda each: each.name)
def test_a_refinement_that_is_left_out_is_gone_and_comes_back(refinement: Refinement) -> None:
    whole = found(refinement)
    with refinement.switched_off():
        without = found(refinement)
    assert found(refinement) is whole
    assert without is not whole
    assert without != whole
    assert callable(without) == callable(whole)


@pytest.mark.parametrize("refinement", REFINEMENTS, ids=lambda each: each.name)
def test_the_module_looks_a_refinement_up_where_it_is_replaced(refinement: Refinement) -> None:
    module = importlib.import_module(f"quarry.{refinement.module}")
    name = refinement.attribute.rpartition(".")[2]
    holders = [module, *(each for _, each in inspect.getmembers(module, inspect.isclass))]
    functions = [each for holder in holders for _, each in inspect.getmembers(holder, inspect.isfunction)]
    assert any(name in _names(each.__code__) for each in functions if each.__module__ == module.__name__)


def _names(code: Any) -> set[str]:
    """The globals and attributes that a function reads, also in what is nested in it."""
    nested = [each for each in code.co_consts if inspect.iscode(each)]
    return {*code.co_names}.union(*map(_names, nested))
