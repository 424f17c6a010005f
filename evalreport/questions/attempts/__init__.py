"""Questions that are answered several times: which of them got worse, and would more attempts help?"""
