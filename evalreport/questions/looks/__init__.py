"""May the comparison be repeated: what each look may decide, and what was declared before?"""
