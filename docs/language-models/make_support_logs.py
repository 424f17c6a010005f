"""Write the logs of docs/tutorial-regressions.md as Inspect AI itself writes them, of two scripted models.

Run in an environment with ``pip install inspect_ai==0.3.285``. Thirty tickets, ten epochs; a digest decides whether an
answer is right and what it costs, so that the logs are the same every time.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

OUTPUT = Path(__file__).resolve().parent
TICKETS = (
    "Refund a ticket that was paid with two vouchers",
    "Move a booking across the change of the clock",
    "Which of the two addresses is on the invoice?",
    "Cancel one of three seats, keep the other two",
    "Answer in the language of the customer's last mail",
    "Split a bill between two companies",
    "Change the name on a group booking",
    "Find the booking by the last four digits of the card",
    "Explain why the fare went up overnight",
    "Send the receipt again to another address",
    "Book a seat for a child without a ticket",
    "Change the departure station, keep the seats",
    "Tell whether a bicycle may go along",
    "Refund the difference after a delay of two hours",
    "Add a meal for a guest with an allergy",
    "Merge two accounts of one customer",
    "Take back a cancellation of this morning",
    "Say when the next offer for students begins",
    "Check in a party of seven",
    "Report a lost umbrella",
    "Repeat last month's booking on the same weekday",
    "Book the cheapest fare that can be cancelled",
    "Give the address of the lounge in Basel",
    "Reserve a place for a wheelchair",
    "Correct a date of birth",
    "Forward a complaint to the right desk",
    "Tell the difference between the two insurances",
    "Rebook after a missed connection",
    "Stop the newsletter but keep the account",
    "Pay a fine in three parts",
)
BROKEN, MENDED = ("t01", "t02"), ("t04",)
"""Tickets that the new model fails, and that only the new one solves."""
PRICE = {"old": 2.4, "new": 0.4}
"""Cents for a ticket of usual size."""


def draw(*what: object) -> float:
    """Return a number in [0, 1) that depends on nothing else."""
    return int(hashlib.sha256(" ".join(map(str, what)).encode()).hexdigest()[:8], 16) / 16**8


def model(name: str):
    """Return a model that solves easy tickets more often; a long ticket costs both more."""
    asked: dict[str, int] = {}
    number = {text: f"t{place:02d}" for place, text in enumerate(TICKETS, start=1)}

    def answer(messages, _tools, _choice, _config) -> ModelOutput:
        text = messages[-1].text
        ticket = number[text]
        asked[ticket] = asked.get(ticket, 0) + 1
        chance = 0.75 + 0.24 * draw(ticket)
        if ticket in BROKEN:
            chance = 0.95 if name == "old" else 0.05
        if ticket in MENDED:
            chance = 0.05 if name == "old" else 0.95
        right = draw(name, ticket, asked[ticket]) < chance
        size = math.exp(
            1.2 * (draw("size", ticket) - 0.5) + 0.8 * (draw("cost", name, ticket, asked[ticket]) - 0.5)
        )
        output = ModelOutput.from_content(model=f"mockllm/{name}", content="solved" if right else "no")
        tokens = round(900 * size)
        cost = round(PRICE[name] * size, 4)
        output.usage = ModelUsage(
            input_tokens=tokens, output_tokens=80, total_tokens=tokens + 80, total_cost=cost
        )
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer)


def main() -> None:
    """Write a log for each model."""
    samples = [Sample(id=f"t{n:02d}", input=text, target="solved") for n, text in enumerate(TICKETS, start=1)]
    task = Task(
        name="support",
        dataset=MemoryDataset(samples, name="support"),
        solver=[generate()],
        scorer=[match()],
        epochs=Epochs(10, "mean"),
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in PRICE:
            (log,) = evaluate(task, model=model(name), log_dir="logs", display="none", max_samples=1)
            log = read_eval_log(log.location)
            for sample in log.samples:
                sample.events = []  # long, and they name folders of the machine
            write_eval_log(log, str(OUTPUT / f"support-{name}.eval"))


if __name__ == "__main__":
    main()
