"""What an audit asks: is a model worse, did a slice fall, did the data change."""
