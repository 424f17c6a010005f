"""How often do prediction intervals hold the truth, how wide are they, and where do they fail?"""
