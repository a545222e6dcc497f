"""A stranger fills the disk of an action log: 80 batches, half of them 7 MB when they are decompressed, each of a new
installation.

The log is on a disk of 24 MiB, whose folder is the environment's HOSTILE_DISK. Another client must go on storing, and a
user must be able to erase, also when something else has taken the last byte of the disk. Clients of `runway serve` have
addresses of their own; those of the sample server, if SAMPLE_SERVER names its program, have accounts.
"""

import base64
import gzip
import hashlib
import json
import os
import shutil
import socket
import uuid

from servers import Claims, Server, reason

claims = Claims("log-disk")
disk = os.environ["HOSTILE_DISK"]
sample = os.environ.get("SAMPLE_SERVER")


def batch(installation, count=1, size=10):
    session = str(uuid.uuid4())
    records = [
        {"seq": number, "id": str(uuid.uuid4()), "time": 1, "boot": "", "uptime": 1, "session": session,
         "name": "opened", "properties": {"text": "x" * size}} for number in range(count)]
    value = {"installation": str(installation), "stream": str(uuid.uuid4()), "batch": 1, "sent": 1, "records": records}
    return gzip.compress(json.dumps(value).encode())


def installation(secret):
    digest = bytearray(hashlib.sha256(secret).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return uuid.UUID(bytes=bytes(digest))


def used(folder):
    names = [name for name in os.listdir(folder) if name.startswith("actions.sqlite")]
    return sum(os.path.getsize(os.path.join(folder, name)) for name in names)


def attack(name, server, path, folder, clients):
    """Three clients, each the fields of its requests and its address: the stranger is the second one."""

    def send(body, client):
        fields, source = clients[client]
        status, answer_fields, answer = server.request(
            "POST", path, body, {"Content-Encoding": "gzip", **fields}, source)
        return status, reason(answer), answer_fields.get("Retry-After")

    def check(claim, holds):
        claims.check(f"{name}: {claim}", holds)

    secret = bytes(range(32))
    status = send(batch(installation(secret), 3), 0)
    check(f"a client stores a batch {status}", status[0] == 200)
    start, statuses, sent = used(folder), {}, 0
    # Records of 0.9 MB, which are below the limit of one.
    for count in [8] * 40 + [1] * 40:
        body = batch(uuid.uuid4(), count, 900_000)
        sent += len(body)
        status = send(body, 1)
        statuses[status] = statuses.get(status, 0) + 1
    grown = used(folder) - start
    claims.note(f"{name}: 80 batches, {sent / 1000:.0f} KB sent: the files grew by {grown / 1e6:.1f} MB; {statuses}")
    check("the stranger stored less than a fifth of the disk", grown < 5_000_000)
    status = send(batch(uuid.uuid4(), 30, 200), 2)
    check(f"another client stores a batch {status}", status[0] == 200)
    with open(os.path.join(disk, "ballast"), "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(1 << 16))
        except OSError:
            pass
    status = send(batch(uuid.uuid4(), 1, 200), 2)
    check(f"a full disk is said to be full, with a time {status}", status[0] == 503 and status[2] is not None)
    body = json.dumps({"secret": base64.b64encode(secret).decode()}).encode()
    status, _, _ = server.request("POST", path + "/erasure", body, *clients[0])
    check(f"a secret erases on the full disk ({status})", status == 204)


with Server("serve", "--log", os.path.join(disk, "actions.sqlite"), "--plain") as server:
    attack("runway serve", server, server.path, disk, [({}, f"127.0.0.{number}") for number in (3, 2, 4)])

if sample:
    for name in os.listdir(disk):
        os.remove(os.path.join(disk, name))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = os.path.join(disk, "sample")
    os.environ["SAMPLE_ACCOUNTS"] = "anna:secret,ben:other,eve:third"
    with Server(folder, str(port), program=sample, url=f"http://127.0.0.1:{port}/v1") as server:
        clients = []
        for account, password in [("anna", "secret"), ("eve", "third"), ("ben", "other")]:
            body = json.dumps({"name": account, "password": password}).encode()
            _, _, answer = server.request("POST", "/v1/tokens", body)
            clients.append(({"Authorization": "Bearer " + json.loads(answer)["access_token"]}, "127.0.0.1"))
        attack("sample server", server, "/v1/log", folder, clients)
    shutil.rmtree(folder)
claims.end()
