"""Does a model do worse on some of the examples, and does the order of the models turn round there?"""
