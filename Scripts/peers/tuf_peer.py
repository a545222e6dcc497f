"""Exchanges repositories with python-tuf: tuf_peer.py RUNWAY FOLDER. Prints one line for each step."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

from securesystemslib.signer import CryptoSigner
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import (
    DelegatedRole, Delegations, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp,
)
from tuf.ngclient import Updater

runway, work = os.path.abspath(sys.argv[1]), sys.argv[2]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve(folder):
    handler = functools.partial(QuietHandler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def run(*arguments, status=0):
    result = subprocess.run([runway, "bundle", *arguments], capture_output=True, text=True)
    assert result.returncode == status, (arguments, result.returncode, result.stdout, result.stderr)
    return result.stdout + result.stderr


def step(text):
    print("tuf-peer:", text, flush=True)


# Their client, our repository.


def their_client(url, root, name):
    folder, targets = f"{work}/{name}", f"{work}/{name}-targets"
    os.makedirs(folder, exist_ok=True)
    os.makedirs(targets, exist_ok=True)
    updater = Updater(folder, f"{url}/metadata/", targets, f"{url}/targets/", bootstrap=open(root, "rb").read())
    updater.refresh()
    return updater


def our_repository():
    site, keys, bundle = f"{work}/site", f"{work}/keys", f"{work}/bundle"
    os.makedirs(f"{bundle}/img")
    options = ["--repository", site, "--keys", keys]
    for path, text in {"index.html": "<p>", "img/é.svg": "<svg>"}.items():
        open(f"{bundle}/{path}", "w").write(text)
    run("init", *options, "--root-keys", "3", "--root-threshold", "2")
    run("publish", *options, "--version", "1", bundle)
    url, root, path = serve(site), f"{site}/metadata/1.root.json", "app/release/1/manifest.json"

    def install(name="client"):
        updater = their_client(url, root, name)
        info = updater.get_targetinfo(path)
        assert info is not None
        return info.unrecognized_fields["custom"]["version"], open(updater.download_target(info)).read()

    version, first = install()
    assert version == 1 and '"index.html"' in first
    step("python-tuf installs from our repository")
    open(f"{bundle}/index.html", "w").write("<p>2")
    run("publish", *options, "--version", "2", "--percentage", "30", bundle)
    assert install()[0] == 2
    run("rollback", *options, "--to", "1", "--version", "3")
    assert install()[1].replace('"version":3', '"version":1') == first
    run("change", *options, "--percentage", "50", "--stop")
    assert their_client(url, root, "client").get_targetinfo(path).unrecognized_fields["custom"]["stopped"] is True
    run("change", *options, "--resume")
    step("python-tuf follows a publication, a rollback and a change of the terms")
    for role in ["timestamp", "snapshot", "targets", "root"]:
        run("rotate", *options, role)
        assert install()[0] == 3, role
        assert install(f"new-{role}")[0] == 3, role
    step("python-tuf follows the rotation of each role")
    run("renew", *options)
    assert install()[0] == 3
    assert "FAILED" not in run("verify", site)
    name = f"{site}/metadata/timestamp.json"
    good = open(name).read()
    open(name, "w").write(good.replace('"version":', '"version":9'))
    try:
        install()
        raise AssertionError("python-tuf accepted a changed timestamp")
    except RepositoryError:
        pass
    assert "FAILED" in run("verify", site, status=1)
    open(name, "w").write(good)
    step("both refuse a changed timestamp")


# Our client, their repository.


class TheirRepository:
    def __init__(self, folder, consistent):
        self.folder, self.consistent = folder, consistent
        os.makedirs(f"{folder}/metadata")
        os.makedirs(f"{folder}/targets")
        self.expires = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=3)
        make = [CryptoSigner.generate_ed25519, CryptoSigner.generate_ecdsa, CryptoSigner.generate_rsa]
        self.signers = {
            "root": [make[0](), make[1](), make[2]()], "timestamp": [make[0]()], "snapshot": [make[1]()],
            "targets": [make[2](), make[0]()], "shop/é": [make[1]()], "bin": [make[0]()],
        }
        self.root = Root(expires=self.expires, consistent_snapshot=consistent)
        for role in ["root", "timestamp", "snapshot", "targets"]:
            for signer in self.signers[role]:
                self.root.add_key(signer.public_key, role)
        self.root.roles["root"].threshold = self.root.roles["targets"].threshold = 2
        self.root.unrecognized_fields["x-note"] = {"é": ['"\\', None, True, -1]}
        self.roles = {name: Targets(expires=self.expires) for name in ["targets", "shop/é", "bin"]}
        delegated = {
            "shop/é": DelegatedRole("shop/é", [], 1, terminating=True, paths=["shop/*"]),
            "bin": DelegatedRole("bin", [], 1, terminating=False, path_hash_prefixes=list("0123456789abcdef")),
        }
        self.roles["targets"].delegations = Delegations({}, delegated)
        for name in delegated:
            for signer in self.signers[name]:
                self.roles["targets"].add_key(signer.public_key, name)
        self.snapshot = Snapshot(expires=self.expires, meta={})
        self.timestamp = Timestamp(expires=self.expires)
        self.write_root()

    def write(self, name, signed, signers, is_versioned=True):
        metadata = Metadata(signed)
        for signer in signers:
            metadata.sign(signer, append=True)
        prefix = f"{signed.version}." if is_versioned else ""
        # The server decodes the name in the URL, in which `/` is %2F.
        path = f"{self.folder}/metadata/{prefix}{name}.json"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        metadata.to_file(path)
        return open(path, "rb").read()

    def write_root(self):
        self.write("root", self.root, self.signers["root"])

    def rotate_root(self):
        old, self.signers["root"] = self.signers["root"], [CryptoSigner.generate_ecdsa() for _ in range(2)]
        for key in list(self.root.roles["root"].keyids):
            self.root.revoke_key(key, "root")
        for signer in self.signers["root"]:
            self.root.add_key(signer.public_key, "root")
        self.root.version += 1
        self.write("root", self.root, old[:2] + self.signers["root"])

    def add(self, role, path, text):
        data = text.encode()
        info = TargetFile.from_data(path, data, ["sha256", "sha512"])
        self.roles[role].targets[path] = info
        folder, name = os.path.split(path)
        os.makedirs(f"{self.folder}/targets/{folder}", exist_ok=True)
        names = [f"{hash}.{name}" for hash in info.hashes.values()] if self.consistent else [name]
        for each in names:
            open(os.path.join(self.folder, "targets", folder, each), "wb").write(data)

    def publish(self):
        for name, signed in self.roles.items():
            data = self.write(name, signed, self.signers[name], self.consistent)
            self.snapshot.meta[f"{name}.json"] = MetaFile.from_data(signed.version, data, ["sha256"])
            signed.version += 1
        data = self.write("snapshot", self.snapshot, self.signers["snapshot"], self.consistent)
        self.timestamp.snapshot_meta = MetaFile.from_data(self.snapshot.version, data, ["sha256"])
        self.snapshot.version += 1
        self.write("timestamp", self.timestamp, self.signers["timestamp"], False)
        self.timestamp.version += 1


def their_repository(consistent):
    name = "consistent" if consistent else "plain"
    repository = TheirRepository(f"{work}/{name}", consistent)
    url, known, targets = serve(repository.folder), f"{work}/{name}-known", f"{work}/{name}-targets"
    os.makedirs(known)
    os.makedirs(targets)
    client = ["tuf", "--metadata-dir", known, "--metadata-url", f"{url}/metadata"]

    def download(path, status=0):
        run(*client, "--target-name", path, "--target-base-url", f"{url}/targets", "--target-dir", targets,
            "download", status=status)
        return None if status else open(f"{targets}/{quote(path, safe='')}").read()

    repository.add("targets", "top é.txt", "1")
    repository.add("shop/é", "shop/x", "2")
    repository.add("bin", "deep/y", "3")
    repository.publish()
    run(*client, "init", f"{repository.folder}/metadata/1.root.json")
    run(*client, "refresh")
    assert [download(path) for path in ["top é.txt", "shop/x", "deep/y"]] == ["1", "2", "3"]
    download("absent", status=1)
    # The delegation of shop/* is terminating, so that the role after it is not searched.
    repository.add("bin", "shop/z", "4")
    repository.publish()
    download("shop/z", status=1)
    step(f"our client installs from {name} snapshots of python-tuf, with Ed25519, ECDSA and RSA-PSS")
    for _ in range(3):
        repository.rotate_root()
    repository.add("shop/é", "shop/x", "22")
    old = {path: open(f"{repository.folder}/metadata/{path}", "rb").read() for path in ["timestamp.json"]}
    repository.publish()
    assert download("shop/x") == "22"
    open(f"{repository.folder}/metadata/timestamp.json", "wb").write(old["timestamp.json"])
    run(*client, "refresh", status=1)
    step("our client follows three roots, and refuses an older timestamp")
    repository.timestamp.expires = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(seconds=1)
    repository.publish()
    run(*client, "refresh", status=1)
    step("our client refuses an expired timestamp")


our_repository()
their_repository(consistent=True)
their_repository(consistent=False)
step("all steps passed")
