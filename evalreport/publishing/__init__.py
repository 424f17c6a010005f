"""Files that belong together, moved into a folder as a whole."""

from evalreport.publishing.whole import MOVE, Kind, check_way, publish, recover, write_whole, writing_whole

__all__ = ["MOVE", "Kind", "check_way", "publish", "recover", "write_whole", "writing_whole"]
