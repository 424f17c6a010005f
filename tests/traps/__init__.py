"""What today's tools get wrong, one test for each letter: evalreport must not."""
