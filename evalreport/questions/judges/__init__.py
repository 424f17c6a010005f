"""May an automatic judge be believed, and does it favour a model?"""
