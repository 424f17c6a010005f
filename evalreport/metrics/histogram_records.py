"""How rank metrics of very many rows were resampled, and the variance that their histograms omit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalreport.engine.histograms import FIRST_ORDER_SHARE, NEGLIGIBLE_SHARE, Bins, shares
from evalreport.engine.parallel import mapped
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.first_order import held_to_first_order
from evalreport.metrics.metric import Ranks
from evalreport.metrics.registry import Quantity, definition
from evalreport.metrics.replicates import slopes_of_keys
from evalreport.metrics.row_data import MOST_EXACT_ROWS
from evalreport.metrics.sample import Sample
from evalreport.schema.inputs import FoundRecord
from evalreport.texts import Message

Key = tuple[str, Quantity]


Share = tuple[Quantity, str, str]
"""A quantity and the two models of a difference, or the same model twice."""


def shares_of_ranks(
    bins: Mapping[str, tuple[Bins, ...]], estimates: Mapping[Key, Estimate]
) -> dict[Share, float]:
    """Return the share of variance inside bins of each binned rank metric, and of each difference of two models."""
    ranked = [key for key in estimates if _is_ranked(key, bins) and estimates[key].derivative is not None]
    first = {model: parts[0] for model, parts in bins.items()}
    by_quantity = [[key for key in ranked if key[1] == q] for q in dict.fromkeys(key[1] for key in ranked)]
    every = mapped(lambda own: shares(slopes_of_keys(first, estimates, own)), by_quantity)
    return {
        (own[i][1], own[i][0], own[j][0]): share
        for own, found in zip(by_quantity, every, strict=True)
        for (i, j), share in found.items()
    }


def histograms_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say how the rank metrics of very many rows were resampled and how much of their variance that loses.

    Shares are known, and replicates completed, where rows are drawn one by one and make one evaluation; models that
    hardly differ in rank are resampled from bins as well where there are too many rows to be resampled themselves.
    """
    data, bins, estimates = sample.rows, sample.rows.bins, sample.estimates
    ranked = [key for key, e in estimates.items() if e.defined and _is_ranked(key, bins)]
    if not ranked:
        return _first_order_found(sample)
    most = max(len(part.wins) for key in ranked for part in bins[key[0]])
    why = Message("bins.why", n=MOST_EXACT_ROWS)
    if data.one_by_one:
        found = shares_of_ranks(bins, estimates)
        why = Message(
            "bins.why_of", why=why, shares=tuple(_of_shares(found, named=data.source == "histograms alone"))
        )
    return (FoundRecord(what="resampling of ranks", value=Message("bins.histogram", n=most), why=why),)


def _first_order_found(sample: Sample) -> tuple[FoundRecord, ...]:
    """Say which means over pairs of very many rows were resampled to first order, and what that leaves out."""
    drawn = [key for key, e in sample.estimates.items() if e.replicates is not None]
    left_out = held_to_first_order(sample.rows, sample.estimates, drawn)
    if not left_out:
        return ()
    names = tuple(dict.fromkeys(quantity.spelled for _, quantity in left_out))
    share = max(left_out.values())
    why = Message("bins.why_first_order", n=MOST_EXACT_ROWS, names=names, share=share, digits=1)
    return (FoundRecord(what="resampling of ranks", value=Message("bins.first_order"), why=why),)


def _is_ranked(key: Key, bins: Mapping[str, tuple[Bins, ...]]) -> bool:
    return key[0] in bins and isinstance(definition(key[1]).computation, Ranks)


def _of_shares(found: Mapping[Share, float], *, named: bool) -> Iterator[Message]:
    """Describe the variance inside bins: left out, added, or (``named``) too large for a first-order correction."""
    by_quantity: dict[str, list[float]] = {}
    close: dict[str, list[str]] = {}
    for (quantity, a, b), share in found.items():
        by_quantity.setdefault(quantity.spelled, []).append(share)
        if named and share > FIRST_ORDER_SHARE:
            close.setdefault(a if a == b else f"{a} - {b}", []).append(quantity.spelled)
    left = {name: max(every) for name, every in by_quantity.items() if max(every) <= NEGLIGIBLE_SHARE}
    yield Message("bins.within")
    if left:
        yield Message("bins.left_out", names=tuple(left), share=max(left.values()), digits=1)
    if added := tuple(name for name in by_quantity if name not in left):
        yield Message("bins.added", names=added)
    if close:
        pairs = [Message("bins.pair", models=models, names=names) for models, names in close.items()]
        yield Message("bins.close", pairs=pairs)
