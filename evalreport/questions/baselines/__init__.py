"""Is a model better than an answer that needs none: the most frequent class, the mean, chance?"""
