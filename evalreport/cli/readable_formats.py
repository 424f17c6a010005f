"""The formats that can be read, for help texts, which import no reader; written by ``make docs``."""

READABLE = ".csv, .tsv, .csv.gz, .tsv.gz, .jsonl, .jsonl.gz, .parquet, .arrow, .feather, .npz, .npy, .xlsx"
