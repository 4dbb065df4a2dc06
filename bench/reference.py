# Runs ultimate-sitemap-parser (USP) in a separate process: builds the tree of a website, and walks through its pages once.
# Argument: the homepage. Prints the version of USP, the number of pages, the peak memory and the seconds of CPU time as JSON.
import importlib.metadata
import json
import logging
import resource
import sys

from usp.tree import sitemap_tree_for_homepage

logging.disable(logging.CRITICAL)
tree = sitemap_tree_for_homepage(sys.argv[1])
pages = sum(1 for _ in tree.all_pages())
usage = resource.getrusage(resource.RUSAGE_SELF)
version = importlib.metadata.version("ultimate-sitemap-parser")
print(json.dumps({"version": version, "pages": pages, "peak": usage.ru_maxrss * 1024, "cpu": usage.ru_utime + usage.ru_stime}))
