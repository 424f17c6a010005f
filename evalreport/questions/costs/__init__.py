"""What do the answers cost, and does quality speak against the cheaper model?"""
