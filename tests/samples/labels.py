"""True labels, and the labels of two models."""

TRUTH = [i // 2 % 2 for i in range(60)]

FOREST = [t if i % 10 else 1 - t for i, t in enumerate(TRUTH)]

LOGREG = [t if i % 3 else 1 - t for i, t in enumerate(TRUTH)]

MODELS = {"forest": {"y_pred": FOREST}, "logreg": {"y_pred": LOGREG}}
