"""Trains the adapters of the pair model on the output of `tools.fit --dump`: `python -m tools.fit.adapters --help`.

    python -m tools.fit.adapters DUMP OUT [--passes 3] [--rank 16] [--rate 0.001] [--seed 0] [--start ADAPTERS]

Needs the dependency group `fit` (torch). The embedding model reads a question together with a candidate as text. Its own
weights stay unchanged; trained are a product of two thin matrices at each linear layer (LoRA, Hu et al. 2021) and a head that
turns the mean of the outputs into a score. The loss of a question is the negative log of the probability of its right
candidates; "none of these" has score 0.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, linear

from quarry.models.local_embedding import (
    HEADS,
    LAYER_NORM_EPSILON,
    LAYERS,
    LINEAR_LAYERS,
    WordPiece,
    installed_weights,
    read_safetensors,
)
from quarry.reader.learned import HEAD_BIAS, HEAD_WEIGHT, encoded_pair, first_text
from tools.fit.tensors import write_half

RIGHT_MAX = 2
WRONG_MAX = 7
WRONG_AMONG = 14
"""Wrong candidates are drawn from this many first ones."""
WRONG_ALONE_MAX = 4
"""Most wrong candidates of a question without a right one."""
QUESTIONS = 16
"""Questions per step."""
PAIRS = 32
"""Pairs that go through the network together; they have about the same length."""
RATE = 1e-3
WARM_STEPS = 30
TOLD_EVERY = 20
Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Example:
    """A question with the tokens of each pair, and which candidates are right."""

    pieces: list[tuple[list[int], int]]
    right: list[bool]


class Network:
    """The embedding model with adapters, as functions of tensors."""

    def __init__(self, base: Tensors, rank: int, device: torch.device) -> None:
        self.device = device
        # a CPU without instructions for bfloat16 multiplies 60 times as fast in single precision
        kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        self._base = {name: each.to(device, kind) for name, each in base.items()}
        self.trained: Tensors = {}
        for name in LINEAR_LAYERS:
            width_out, width_in = base[f"{name}.weight"].shape
            self.trained[f"{name}.a"] = torch.randn(rank, width_in) / math.sqrt(width_in)
            self.trained[f"{name}.b"] = torch.zeros(width_out, rank)
        width = base["embeddings.LayerNorm.weight"].shape[0]
        self.trained[HEAD_WEIGHT] = torch.randn(width) / math.sqrt(width)
        self.trained[HEAD_BIAS] = torch.zeros(1)
        self.trained = {name: each.to(device).requires_grad_() for name, each in self.trained.items()}

    def start_from(self, trained: Tensors) -> None:
        """Starts with trained adapters of the same rank."""
        for name, each in trained.items():
            self.trained[name] = each.float().to(self.device).requires_grad_()

    def scores(self, pairs: Sequence[tuple[list[int], int]]) -> Tensor:
        """The scores of pairs, in order."""
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][0]))
        parts = [self._padded([pairs[place] for place in order[at : at + PAIRS]]) for at in range(0, len(order), PAIRS)]
        places = torch.empty(len(order), dtype=torch.long)
        places[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[places.to(self.device)]

    def _padded(self, pairs: Sequence[tuple[list[int], int]]) -> Tensor:
        length = max(len(pieces) for pieces, _ in pairs)
        ids = torch.tensor([[*pieces, *[0] * (length - len(pieces))] for pieces, _ in pairs], device=self.device)
        second = torch.tensor(
            [[int(place >= first) for place in range(length)] for _, first in pairs], device=self.device
        )
        mask = torch.tensor(
            [[place < len(pieces) for place in range(length)] for pieces, _ in pairs], device=self.device
        )
        base = self._base
        states = (
            base["embeddings.word_embeddings.weight"][ids]
            + base["embeddings.token_type_embeddings.weight"][second]
            + base["embeddings.position_embeddings.weight"][:length]
        )
        states = self._normed(states, "embeddings.LayerNorm")
        for number in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{number}", mask[:, None, None, :])
        weights = mask.unsqueeze(-1).float()
        means = (states.float() * weights).sum(1) / weights.sum(1)
        return means @ self.trained[HEAD_WEIGHT] + self.trained[HEAD_BIAS]

    def _layer(self, states: Tensor, name: str, mask: Tensor) -> Tensor:
        count, length, width = states.shape
        queries, keys, values = (
            self._linear(states, f"{name}.attention.self.{part}").view(count, length, HEADS, -1).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        # on a CPU, the backward pass of torch's own attention takes four times as long
        shares = (queries @ keys.transpose(2, 3) * (width // HEADS) ** -0.5).masked_fill(~mask, -1e4).softmax(-1)
        attended = (shares @ values).transpose(1, 2).reshape(count, length, width)
        attended = self._linear(attended, f"{name}.attention.output.dense") + states
        attended = self._normed(attended, f"{name}.attention.output.LayerNorm")
        wide = gelu(self._linear(attended, f"{name}.intermediate.dense"), approximate="tanh")
        return self._normed(self._linear(wide, f"{name}.output.dense") + attended, f"{name}.output.LayerNorm")

    def _linear(self, states: Tensor, name: str) -> Tensor:
        a, b = (self.trained[f"{name}.{part}"].to(states.dtype) for part in "ab")
        return linear(states, self._base[f"{name}.weight"], self._base[f"{name}.bias"]) + linear(linear(states, a), b)

    def _normed(self, states: Tensor, name: str) -> Tensor:
        gain, bias = self._base[f"{name}.weight"], self._base[f"{name}.bias"]
        return layer_norm(states, gain.shape, gain, bias, LAYER_NORM_EPSILON)


def main(arguments: Sequence[str] | None = None) -> None:
    given = _given(arguments)
    torch.manual_seed(given.seed)
    chosen = random.Random(given.seed)  # noqa: S311 - nothing secret
    folder = installed_weights()
    tokenizer = WordPiece.from_file(folder / "vocab.txt")
    examples = [_example(row, tokenizer) for row in _rows(given.dump)]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tensors = read_safetensors(folder / "model.safetensors")
    base = {name: torch.tensor(each) for name, each in tensors.items()}
    network = Network(base, given.rank, device)
    if given.start:
        network.start_from({name: torch.tensor(each) for name, each in read_safetensors(given.start).items()})
    print(f"{len(examples)} questions", file=sys.stderr)
    train(network, examples, given, chosen)
    write_safetensors(given.out, network.trained)


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit.adapters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dump", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--passes", type=float, default=3.0)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=RATE, help="lower where trained adapters are trained on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a file of adapters to start from")
    return parser.parse_args(arguments)


def _rows(dump: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(dump, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _example(row: dict[str, Any], tokenizer: WordPiece) -> Example:
    question = tokenizer.encode(first_text(row["question"], row["previous"]))
    pieces = [encoded_pair(question, tokenizer.encode(text)) for text, _ in row["candidates"]]
    return Example(pieces, [is_right for _, is_right in row["candidates"]])


def _drawn(example: Example, chosen: random.Random) -> list[int]:
    """The candidates of one step: right ones, and wrong ones that the linear stage considers right."""
    right = [place for place, is_right in enumerate(example.right) if is_right]
    wrong = [place for place, is_right in enumerate(example.right) if not is_right][:WRONG_AMONG]
    most = WRONG_MAX if right else WRONG_ALONE_MAX
    return [
        *chosen.sample(right, min(RIGHT_MAX, len(right))),
        *chosen.sample(wrong, min(most, len(wrong))),
    ]


def loss_of(scores: Tensor, right: Tensor) -> Tensor:
    """The negative log of the probability of the right ones, or of "none of these" if none is right."""
    all_of_them = torch.cat([scores, scores.new_zeros(1)])
    good = scores[right] if bool(right.any()) else scores.new_zeros(1)
    return torch.logsumexp(all_of_them, 0) - torch.logsumexp(good, 0)


def train(network: Network, examples: list[Example], given: argparse.Namespace, chosen: random.Random) -> None:
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019). The rate rises over the first steps and then falls to 0."""
    steps = int(given.passes * len(examples) / QUESTIONS)
    optimizer = torch.optim.AdamW([*network.trained.values()], lr=given.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / WARM_STEPS, 1 - step / steps)
    )
    began, told, waiting = time.monotonic(), 0.0, list[Example]()
    for step in range(1, steps + 1):
        while len(waiting) < QUESTIONS:
            waiting = [*waiting, *chosen.sample(examples, len(examples))]
        batch, waiting = waiting[:QUESTIONS], waiting[QUESTIONS:]
        drawn = [_drawn(each, chosen) for each in batch]
        scores = network.scores([each.pieces[at] for each, places in zip(batch, drawn, strict=True) for at in places])
        total, start = scores.new_zeros(()), 0
        for each, places in zip(batch, drawn, strict=True):
            right = torch.tensor([each.right[at] for at in places], device=network.device)
            total = total + loss_of(scores[start : start + len(places)], right)
            start += len(places)
        optimizer.zero_grad()
        (total / QUESTIONS).backward()  # type: ignore[no-untyped-call, unused-ignore]
        torch.nn.utils.clip_grad_norm_([*network.trained.values()], 1.0)
        optimizer.step()
        schedule.step()
        told += total.item() / QUESTIONS
        if step % TOLD_EVERY == 0:
            took = time.monotonic() - began
            print(f"step {step} of {steps}: loss {told / TOLD_EVERY:.3f}, {took:.0f} s", file=sys.stderr, flush=True)
            told = 0.0
        if step % (4 * TOLD_EVERY) == 0:
            write_safetensors(given.out, network.trained)


def write_safetensors(path: Path, tensors: Tensors) -> None:
    """Writes the tensors in half precision, in the format that `read_safetensors` reads."""
    write_half(path, {name: tensor.detach().float().cpu().numpy() for name, tensor in tensors.items()})


if __name__ == "__main__":
    main()
