"""Does with python-tuf what a device does, and prints the milliseconds: of a processor that one refresh with nothing new takes, or of a
clock for the download of all files of the bundle.

Arguments: refresh or install, the URL of the repository, a folder for metadata and files, the file of the root.
"""
import hashlib
import json
import os
import sys
import time

from tuf.ngclient import Updater

part, url, folder, root = sys.argv[1:5]
os.makedirs(folder, exist_ok=True)
with open(root, "rb") as file:
    bootstrap = file.read()
fetcher = None
manifest = "app/release/1/manifest.json"


def refresh():
    global fetcher
    updater = Updater(
        folder, url + "/metadata/", target_dir=folder, target_base_url=url + "/targets/", bootstrap=bootstrap, fetcher=fetcher
    )
    # One pool of connections for all refreshes, as an app would have.
    fetcher = updater._fetcher
    updater.refresh()
    return updater, updater.get_targetinfo(manifest)


def install():
    """Downloads the manifest and each file in it, verifies them and writes them to a folder, one after the other."""
    updater, target = refresh()
    with open(updater.download_target(target)) as file:
        files = json.load(file)["files"]
    for item in files.values():
        data = fetcher.download_bytes(f"{url}/files/{item['sha256']}", item["length"])
        assert hashlib.sha256(data).hexdigest() == item["sha256"]
        with open(os.path.join(folder, item["sha256"]), "wb") as file:
            file.write(data)


best = float("inf")
if part == "install":
    start = time.perf_counter()
    install()
    best = (time.perf_counter() - start) * 1000
else:
    assert refresh()[1] is not None
    for _ in range(5):
        start = time.process_time()
        for _ in range(50):
            refresh()
        best = min(best, (time.process_time() - start) / 50 * 1000)
print(f"{best:.3f}")
