"""How fast evalreport is against what people would use instead: ratios in one run, one thread each.

``make bench`` runs everything and writes docs/benchmarks.csv;
``make bench QUICK=1`` tries it on small inputs.
Nothing here is part of the installed package, and no test asserts a time.
"""
