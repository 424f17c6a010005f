"""Texts from files made visible: characters without a shape, long words, names that look alike."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence

from evalreport.texts import Message, say

LONGEST_NAME = 40
LONGEST_RUN = 160
LEAST_KEPT, LEAST_DISTINCT, LEAST_LEFT = 4, 3, 5
SHORT_NAME = 24
JOINTS = "/-_. "
JOINERS = "\u200c\u200d"
# Controls, format characters (bidi overrides, zero width), surrogates, private use, unassigned: no shape.
SHAPELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def code_point(character: str) -> str:
    """Write a character as ``U+1F680``."""
    return f"U+{ord(character):04X}"


def shaped(text: str) -> str:
    r"""Write every character that has no shape as its code point: it would act on a terminal or turn text round.

    Zero-width joiners stay between letters, where scripts need them.

    Examples
    --------
    >>> shaped("a\x9b2J\u202eb")
    'aU+009B2JU+202Eb'
    """
    if text.isprintable():  # so none of its characters lacks a shape
        return text
    return "".join(
        c if unicodedata.category(c) not in SHAPELESS or _joins(text, i) else code_point(c)
        for i, c in enumerate(text)
    )


def visible(text: str | Message) -> str:
    r"""Write every character that has no shape as its code point, and cut endless words in the middle.

    Examples
    --------
    >>> visible("a\u202eb\x00")
    'aU+202EbU+0000'
    """
    shown = shaped(str(text))
    if len(shown) <= LONGEST_RUN:
        return shown
    return " ".join(shorten(word, LONGEST_RUN) for word in shown.split(" "))


_ACTING = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Control characters above ASCII, marks of direction and of no width: JSON may hold them as they are."""


def escaped_json(text: str) -> str:
    r"""Write characters that act on a terminal as JSON's escapes; a reader of JSON gets the same values.

    Examples
    --------
    >>> print(escaped_json('{"name": "a\x9b2J\u202e"}'))
    {"name": "a\u009b2J\u202e"}
    """
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _joins(text: str, i: int) -> bool:
    if text[i] not in JOINERS or not 0 < i < len(text) - 1:
        return False
    beside = [unicodedata.category(c) for c in (text[i - 1], text[i + 1])]
    emoji = text[i] == "\u200d" and beside[0] in ("So", "Sk", "Mn") and beside[1] == "So"
    return emoji or all(kind[0] in "LM" for kind in beside)


def shorten(text: str, limit: int = LONGEST_NAME) -> str:
    """Cut a text to ``limit`` characters with an ellipsis in the middle.

    Examples
    --------
    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= limit:
        return text
    head = limit // 2
    return f"{text[:head]}…{text[len(text) - (limit - head - 1) :]}"


def _cut(name: str, head: int, tail: int, limit: int) -> str:
    """Cut a name to ``limit`` characters inside its first ``head`` or last ``tail`` characters, if that is enough."""
    end = len(name) - tail
    joint = max(name.rfind(sign, 0, head) for sign in "_-./ ") + 1
    start = joint if joint > 0 and end - joint + LEAST_KEPT <= limit else head
    left = limit - (end - start)
    if len(name) <= limit or start == 0 or left < LEAST_KEPT:
        return shorten(name, limit)
    after = shorten(name[end:], left // 2)
    before = left - len(after)
    return (name[:start] if start <= before else name[: before - 1] + "…") + name[start:end] + after


def distinct_names(names: Sequence[str], limit: int = LONGEST_NAME) -> dict[str, str]:
    """Return each name a visible form of at most about ``limit`` characters; two names never look alike.

    Beginnings and ends that all names share are cut first, so that their differences stay. Combining marks are
    composed for the comparison: two spellings of one word get a number too.

    Examples
    --------
    >>> list(distinct_names(["resnet-152_imagenet_seed01", "resnet-152_imagenet_seed02"], 18).values())
    ['resnet-152_…seed01', 'resnet-152_…seed02']
    """
    head = os.path.commonprefix(list(names))  # noqa: RUF071 - names, not paths
    rest = [name[len(head) :] for name in names]
    tail = os.path.commonprefix([name[::-1] for name in rest])[::-1]  # noqa: RUF071
    shown: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        text = visible(_cut(name, len(head), len(tail), limit)).strip() or say("list.empty")
        text = shorten(text, limit)
        candidate, k = text, 2
        while unicodedata.normalize("NFKC", candidate).strip() in taken:
            candidate, k = f"{text} (#{k})", k + 1
        taken.add(unicodedata.normalize("NFKC", candidate).strip())
        shown[name] = candidate
    return shown


def short_names(names: Sequence[str], limit: int = SHORT_NAME) -> dict[str, str]:
    """Return each name the one short form that a report uses: without what all begin and end with, then cut.

    A beginning or end that all share is left out up to a joint (``/ - _ .`` or a space), if five characters or more
    remain of each, behind a folder three. Of a name that is still longer than ``limit`` characters the longest part
    between joints is kept that no other name has, after the last ``/`` where that is enough. Two never look alike.

    Examples
    --------
    >>> list(short_names(["runs/resnet-50", "runs/vit-large"]).values())
    ['resnet-50', 'vit-large']
    >>> list(short_names(["release_candidate_01", "release_candidate_02"]).values())
    ['candidate_01', 'candidate_02']
    >>> list(short_names(["gpt-4.1", "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-70B-Instruct"]).values())
    ['gpt-4.1', 'Llama-3.1-8B-Instruct', 'Llama-3.1-70B-Instruct']
    >>> list(short_names(["species_012_coleoptera", "species_049_lepidoptera"], 12).values())
    ['012…', '049…']
    """
    rest = list(names)
    for turn in (1, -1):
        head = os.path.commonprefix([name[::turn] for name in rest])  # noqa: RUF071 - names, not paths
        joints = [i + 1 for i, sign in enumerate(head) if sign in _joints(names)] if len(names) > 1 else []
        for joint in reversed(joints):
            shorter = [name[::turn][joint:][::turn] for name in rest]
            least = LEAST_DISTINCT if head[joint - 1] == "/" else LEAST_LEFT
            if all(len(name) >= least for name in shorter):
                rest = shorter
                break
    telling = [_telling(name, [other for other in rest if other != name], limit) for name in rest]
    if len(set(telling)) < len(set(rest)):
        telling = rest
    shown = distinct_names(telling, limit)
    return {name: shown[short] for name, short in zip(names, telling, strict=True)}


def _joints(names: Sequence[str]) -> str:
    """Return the signs that names are cut at: no slash in names of several words, where it is no folder ("w/o")."""
    return JOINTS.replace("/", "") if any(" " in name for name in names) else JOINTS


def _telling(name: str, others: Sequence[str], limit: int) -> str:
    """Return the part of a long name that tells it from the others, with an ellipsis where its end is left out."""
    if len(name) <= limit:
        return name
    signs = _joints((name,))
    joints = [place for place, sign in enumerate(name) if sign in signs]
    starts = [name.rfind("/") + 1 if "/" in signs else 0, 0, *(place + 1 for place in joints)]
    for start in starts:
        for end in (len(name), *reversed(joints)):
            cut = end < len(name)
            part = name[start:end].rstrip(f"{JOINTS}–—") if cut else name[start:]
            if LEAST_DISTINCT <= len(part) <= limit - cut and not any(part in other for other in others):
                return part + "…" * cut
    return name
