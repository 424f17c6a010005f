"""The formats that can be read, for help texts, which import no reader; written by ``make docs``."""

READABLE = ".parquet, .arrow, .feather, .npz, .npy, .xlsx, .csv, .tsv, .csv.gz, .tsv.gz, .jsonl, .jsonl.gz"
