"""What things are called in the report: entries of registries by their words, names from files made safe to show."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from evalreport.numbers import count, percent
from evalreport.texts import Text, named, say, spoken

if TYPE_CHECKING:
    from evalreport.schema.results import Results


Kind = Literal["metric", "interval", "test"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class MetricKey:
    """Which number: the metric, how it is averaged over classes, or whose class's own value it is."""

    metric: str
    average: str | None = None
    label: str | None = None


def registry(kind: Kind) -> Mapping[str, Any]:
    """Give the registered metrics, intervals or tests by name; imported here, since a short text needs none of them."""
    if kind == "metric":
        from evalreport.metrics import METRICS

        return METRICS
    if kind == "interval":
        from evalreport.intervals import INTERVALS

        return INTERVALS
    from evalreport.comparisons import TESTS

    return TESTS


def entry(kind: Kind, name: str) -> Any | None:
    """Give one registered entry, or None: results of a newer version may name what this one does not know."""
    known = registry(kind)
    if name not in known:  # not get(): a registry answers an unknown name with a message
        return None
    return known[name]


def display_of(kind: Kind, name: str) -> Any | None:
    """Return the record that holds the label and the summary of an entry, or None where it is not known."""
    known = entry(kind, name)
    return known.display if known is not None and kind == "metric" else known


def label_of(kind: Kind, name: str | None) -> str:
    """Give the words for a metric, an interval or a test."""
    if name is None:
        return ""
    known = display_of(kind, name)
    if known is None:
        return visible(name.replace("_", " "))
    return spoken(f"label.{kind}.{name}", str(known.label))


def test_in_words(name: str) -> str:
    """Name a test within a sentence: ``McNemar’s mid-p test``."""
    return named("test_in_words", name, say("test_in_words.other", label=label_of("test", name)))


def summary_of(kind: Kind, name: str) -> str:
    """Give the sentence that says what a metric, an interval or a test is; nothing where it is not known."""
    known = display_of(kind, name)
    return "" if known is None else spoken(f"summary.{kind}.{name}", str(known.summary))


def registered_texts() -> dict[str, str]:
    """Give what the registries say of their entries, by the keys under which a translation overrides it."""
    found = {}
    for kind in KINDS:
        for name in registry(kind):
            known = display_of(kind, name)
            assert known is not None
            found[f"label.{kind}.{name}"] = str(known.label)
            found[f"summary.{kind}.{name}"] = str(known.summary)
    return found


def metric_label(key: MetricKey) -> str:
    """Give the words for a metric with its average or class: ``F1 (macro)``, ``Recall, class 3``."""
    text = label_of("metric", key.metric)
    if key.average:
        text += f" ({key.average})"
    if key.label is not None:
        text += f", class {visible(key.label)}"
    return text


def family_words(correction: str, n_pairs: int, alpha: str) -> str:
    """Say how the pairs were corrected."""
    if n_pairs < 2:
        return say("verdict.family", alpha=alpha)
    if correction == "none":
        return say("verdict.family_unadjusted", alpha=alpha)
    by = named("correction", correction)
    return say("verdict.family_adjusted", correction=by, n=n_pairs, alpha=alpha)


def level_of_pairs(results: Results) -> str:
    """Say for which of the pairs the intervals of the differences hold together."""
    n, correction = len(results.verdicts), str(results.options.get("correction", "none"))
    level = percent(float(results.options.get("confidence", 0.95)))
    if n < 2:
        return say("verdict.level", level=level)
    key = {"none": "verdict.level_each", "bh": "verdict.level_decided"}.get(correction, "verdict.level_all")
    return say(key, level=level, n=n)


def greater_is_better(key: MetricKey, lower_is_better: bool = False) -> bool:
    """Say in which direction the metric is better; values of unknown kind go by the run's option."""
    known = entry("metric", key.metric)
    if known is None:
        return True
    if lower_is_better and known.scale.turnable:
        return known.scale.greater_is_better is False
    return known.scale.greater_is_better is not False


def find_key(spelled: str, known: list[MetricKey]) -> MetricKey:
    """Find the number that a spelling such as ``f1_macro`` or ``recall[class=3]`` means.

    A bare name of a metric that is averaged means the first average of its registration.
    """
    by_spelling = {spelling(key): key for key in known}
    if spelled in by_spelling:
        return by_spelling[spelled]
    averaged = [key for key in known if key.metric == spelled and key.label is None]
    return averaged[0] if averaged else MetricKey(spelled)


def spelling(key: MetricKey) -> str:
    """Give the command line's spelling of a metric: ``f1``, ``f1_macro``, ``recall[class=3]``."""
    text = key.metric + (f"_{key.average}" if key.average else "")
    return text + (f"[class={key.label}]" if key.label is not None else "")


def count_range(counts: Collection[float]) -> str:
    """Write the least and the largest of some counts; one where they are the same."""
    low, high = count(min(counts)), count(max(counts))
    return low if low == high else say("report.range", low=low, high=high)


def listed(names: list[str], limit: int = 6) -> str:
    """Join names as a sentence does: ``a, b and c``; of many, the first and how many more."""
    if len(names) > limit:
        return say("list.more", names=", ".join(names[:limit]), n=len(names) - limit)
    if len(names) < 2:
        return "".join(names)
    return say("list.and", names=", ".join(names[:-1]), last=names[-1])


LONGEST_NAME = 40
LONGEST_RUN = 160
LEAST_KEPT, LEAST_DISTINCT = 4, 3
SHORT_NAME = 18
JOINTS = "/-_. "
JOINERS = "\u200c\u200d"
# Controls, format characters (bidi overrides, zero width), surrogates, private use, unassigned: no shape.
SHAPELESS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def code_point(character: str) -> str:
    """Write a character as ``U+1F680``."""
    return f"U+{ord(character):04X}"


def visible(text: Text) -> str:
    r"""Write every character that has no shape as its code point, and cut endless words in the middle.

    Zero-width joiners stay between letters, where scripts need them.

    Examples
    --------
    >>> visible("a\u202eb\x00")
    'aU+202EbU+0000'
    """
    text = str(text)
    if text.isprintable():  # so none of its characters lacks a shape
        if len(text) <= LONGEST_RUN:
            return text
        shown = text
    else:
        shown = "".join(
            c if unicodedata.category(c) not in SHAPELESS or _joins(text, i) else code_point(c)
            for i, c in enumerate(text)
        )
    return " ".join(shorten(word, LONGEST_RUN) for word in shown.split(" "))


def _joins(text: str, i: int) -> bool:
    inside = 0 < i < len(text) - 1
    return (
        text[i] in JOINERS
        and inside
        and all(unicodedata.category(c)[0] in "LM" for c in (text[i - 1], text[i + 1]))
    )


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
    room = limit - (end - start)
    if len(name) <= limit or start == 0 or room < LEAST_KEPT:
        return shorten(name, limit)
    after = shorten(name[end:], room // 2)
    before = room - len(after)
    return (name[:start] if start <= before else name[: before - 1] + "…") + name[start:end] + after


def distinct_names(names: Sequence[str], limit: int = LONGEST_NAME) -> dict[str, str]:
    """Give each name a visible form of at most about ``limit`` characters; two names never look alike.

    What is cut is what all names begin or end with, so that what tells them apart stays. Combining marks
    are composed for the comparison: two spellings of one word get a number too.

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


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Give each name the one short form that a report uses: without what all begin and end with, then cut.

    Up to a joint (``/ - _ .`` or a space) what all share is left out, if three characters or more remain of each;
    what is then longer than 18 characters is cut in its middle. Two names never look alike.

    Examples
    --------
    >>> list(short_names(["runs/resnet-50", "runs/vit-large"]).values())
    ['resnet-50', 'vit-large']
    >>> list(short_names(["release_candidate_01", "release_candidate_02"]).values())
    ['candidate_01', 'candidate_02']
    """
    rest = list(names)
    for turn in (1, -1):
        head = os.path.commonprefix([name[::turn] for name in rest])  # noqa: RUF071 - names, not paths
        joints = [i + 1 for i, sign in enumerate(head) if sign in JOINTS] if len(names) > 1 else []
        for joint in reversed(joints):
            shorter = [name[::turn][joint:][::turn] for name in rest]
            if all(len(name) >= LEAST_DISTINCT for name in shorter):
                rest = shorter
                break
    shown = distinct_names(rest, SHORT_NAME)
    return {name: shown[short] for name, short in zip(names, rest, strict=True)}


def without_missing_glyphs(document: str) -> str:
    """Write each character that no font of this machine can draw as its code point.

    Colour fonts do not count: their bitmaps have no place in an archived PDF.
    """
    return "".join(c if c.isascii() or _has_glyph(c) else code_point(c) for c in document)


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    return any(ord(character) in font for font in _coverage())


@lru_cache(maxsize=1)
def _own_coverage() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    from evalreport.plots.style import FONT_FOLDER

    return frozenset(FT2Font(str(FONT_FOLDER / "Inter-Regular.ttf")).get_charmap())


def _coverage() -> Iterable[frozenset[int]]:
    """Yield the characters of the shipped font, then, only if needed, those of the machine's fonts."""
    yield _own_coverage()
    yield _machine_coverage()


@lru_cache(maxsize=1)
def _machine_coverage() -> frozenset[int]:
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    covered: set[int] = set()
    for path in font_manager.findSystemFonts():
        if "color" in path.lower() or "emoji" in path.lower():
            continue
        try:
            covered.update(FT2Font(path).get_charmap())
        except (RuntimeError, OSError):
            continue  # a font that cannot be opened draws nothing
    return frozenset(covered)
