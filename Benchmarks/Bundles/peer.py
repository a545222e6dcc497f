"""Refreshes with python-tuf, and prints the milliseconds of a processor that one refresh with nothing new takes.

Arguments: the URL of the repository, a folder for metadata, the file of the root.
"""
import os
import sys
import time

from tuf.ngclient import Updater

url, folder, root = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
with open(root, "rb") as file:
    bootstrap = file.read()
fetcher = None


def refresh():
    global fetcher
    updater = Updater(folder, url + "/metadata/", bootstrap=bootstrap, fetcher=fetcher)
    # One pool of connections for all refreshes, as an app would have.
    fetcher = updater._fetcher
    updater.refresh()
    return updater.get_targetinfo("app/release/1/manifest.json")


assert refresh() is not None
best = float("inf")
for _ in range(5):
    start = time.process_time()
    for _ in range(50):
        refresh()
    best = min(best, (time.process_time() - start) / 50 * 1000)
print(f"{best:.3f}")
