"""Are the probabilities true: does what is forecast at 30 % happen three times in ten?"""
