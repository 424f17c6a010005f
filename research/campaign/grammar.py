"""Odd values, and changes to good ones: what the fuzzer's inputs are made of, all drawn from one generator."""

from __future__ import annotations

import copy
import json
import random
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
TEXTS = (*WORDS["texts"], "x" * 300, "9" * 400, "1" + "0" * 30, *WORDS["names"])
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 10, 0.5, 0.95, 1.5, -0.0, 1e-300, 1e308, 5e-324),
    *(2**31, 2**53 + 1, 2**63, -(2**63), 10**30, float("nan"), float("inf"), True, False),
)
COLUMNS, METRICS = WORDS["columns"], WORDS["metrics"]
_DEEP = ("[" * 3000, "{" * 3000, '{"a":' * 3000)
TOKENS = [
    token.encode("latin-1")
    for token in (*WORDS["marks"], *_DEEP, *WORDS["values"], "9" * 400, *WORDS["codes"])
]


def text(rng: random.Random) -> str:
    """Return an odd text, sometimes two of them on end."""
    found = rng.choice(TEXTS)
    return found + rng.choice(TEXTS) if rng.random() < 0.2 else found


def value(rng: random.Random, depth: int = 2) -> Any:
    """Return an odd value of JSON (or TOML)."""
    kind = rng.random()
    if depth and kind < 0.12:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if depth and kind < 0.24:
        return {text(rng): value(rng, depth - 1) for _ in range(rng.randrange(4))}
    if kind < 0.34:
        return None
    return rng.choice(NUMBERS) if kind < 0.67 else text(rng)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Change some bytes: flip, overwrite, cut out, double, put in, or cut off."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        place = rng.randrange(len(content) + 1)
        length = rng.choice((1, 2, 4, 8, 64, len(content) // 3 + 1))
        match rng.randrange(7):
            case 0 if content:
                content[place % len(content)] ^= 1 << rng.randrange(8)
            case 1:
                content[place : place + length] = rng.randbytes(length)
            case 2:
                del content[place : place + length]
            case 3:
                content[place:place] = content[place : place + length] * rng.choice((1, 2, 50))
            case 4:
                content[place:place] = rng.choice(TOKENS)
            case 5:
                content[place : place + length] = bytes(length)
            case _:
                del content[place:]
    return bytes(content[:2_000_000])


def changed(rng: random.Random, content: Any) -> Any:
    """Return a copy of a JSON value with some parts replaced, removed, doubled or renamed."""
    content = copy.deepcopy(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = content
        while isinstance(place, (dict, list)) and place:
            key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
            inner = place[key]
            if isinstance(inner, (dict, list)) and inner and rng.random() < 0.85:
                place = inner
                continue
            _change(rng, place, key)
            break
    return content


def _change(rng: random.Random, place: Any, key: Any) -> None:
    match rng.randrange(5):
        case 0:
            del place[key]
        case 1 if isinstance(place, list):
            place.insert(rng.randrange(len(place) + 1), place[key])
        case 1:
            place[text(rng)] = place.pop(key)
        case 2:
            place[key] = near(rng, place[key])
        case _:
            place[key] = value(rng)


def near(rng: random.Random, found: Any) -> Any:
    """Return a value of the same type."""
    if isinstance(found, bool):
        return not found
    if isinstance(found, (int, float)):
        return rng.choice(NUMBERS)
    if isinstance(found, str):
        return rng.choice((text(rng), found + text(rng), found[: len(found) // 2], found.swapcase()))
    return value(rng)


def as_json(content: Any) -> bytes:
    """Write JSON, with NaN where there is one, as careless programs do."""
    return json.dumps(content).encode()


def as_toml(content: Any) -> str:
    """Write a value as TOML; what TOML has no words for becomes a text."""
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, (int, float)):
        return repr(content)
    if isinstance(content, (list, tuple)):
        return "[" + ", ".join(map(as_toml, content)) + "]"
    if isinstance(content, dict):
        return "{" + ", ".join(f"{as_toml(str(k))} = {as_toml(v)}" for k, v in content.items()) + "}"
    return json.dumps(str(content), ensure_ascii=True)


def some(rng: random.Random, choices: Sequence[Any], least: int = 0, most: int = 6) -> list[Any]:
    """Return some of the choices, in any order, rarely one twice."""
    found = rng.sample(list(choices), min(rng.randint(least, most), len(choices)))
    return [*found, rng.choice(found)] if found and rng.random() < 0.03 else found
