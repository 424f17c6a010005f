"""Which ranks may a model have, and do all models differ at once?"""
