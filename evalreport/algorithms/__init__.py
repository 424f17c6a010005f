"""How good an algorithm is, not one fitted model: error estimates, bias and variance, learning curves."""
