"""How good is the algorithm, apart from the models that it made? Error estimates, bias and variance, learning."""
