"""Uploads that announce all the space, are held, or carry credentials, at the sample server, which is the documented one.

`SAMPLE_SERVER` names its program. The default is what Scripts/sample-server.sh builds.
"""

import json
import os
import socket
import tempfile
import time

from servers import Claims, Server, until

claims = Claims("uploads")
program = os.environ.get("SAMPLE_SERVER", ".build/debug/SampleServer")
if not os.path.exists(program):
    claims.note(f"{program} is not built: skipped")
    claims.end()
VERSION = {"Upload-Draft-Interop-Version": "8"}
PART = {**VERSION, "Content-Type": "application/partial-upload"}
os.environ["SAMPLE_ACCOUNTS"] = "anna:secret,ben:other"

with tempfile.TemporaryDirectory() as folder:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The program does not print its URL.
    line = 'echo "http://127.0.0.1:$3/"; exec "$@"'
    with Server("-c", line, program, program, folder, str(port), program="bash") as server:

        def answers():
            try:
                return server.request("GET", "/v1/rentals")[0] == 200
            except OSError:
                return False

        claims.check("the server starts", until(answers))

        def login(name, password):
            _, _, body = server.request("POST", "/v1/tokens", json.dumps({"name": name, "password": password}))
            return {"Authorization": f"Bearer {json.loads(body)['access_token']}"}

        def create(account, fields, content=b"", source="127.0.0.1"):
            return server.request(
                "PUT", "/v1/rentals/7/film", content, {**VERSION, "Upload-Complete": "?0", **account, **fields}, source)

        anna, ben = login("anna", "secret"), login("ben", "other")
        statuses = [create(anna, {"Upload-Length": str(16 << 30)})[0] for _ in range(4)]
        whole = server.request(
            "PUT", "/v1/rentals/8/film", b"0" * 1000, {**VERSION, "Upload-Complete": "?1", **ben}, "127.0.0.2")[0]
        claims.note(f"four empty uploads that announce 16 GiB: {statuses}; then one of another account: {whole}")
        claims.check("another account uploads", whole == 204)
        statuses = [create(anna, {})[0] for _ in range(150)]
        claims.note(f"150 more: {statuses.count(201)} are created, {statuses.count(429)} are refused with 429")
        # Four are there already, and a complete one of another address.
        claims.check("an address has a tenth of what the others leave", statuses.count(201) == 95)
        statuses += [create(anna, {}, source=f"127.0.0.{3 + number % 4}")[0] for number in range(240)]
        claims.check("an account has a quarter of the uploads", statuses.count(201) == 246)
        claims.check("another account uploads still", create(ben, {}, source="127.0.0.2")[0] == 201)
        claims.check("nobody uploads without an account", create({}, {}, source="127.0.0.2")[0] == 401)

        secrets = {"X-API-Key": "s3cret-a", "DPoP": "s3cret-b", "X-Session": "s3cret-c", "Cookie": "s3cret-d=1"}
        _, fields, _ = create(ben, secrets, b"0", "127.0.0.2")
        stored = [os.path.join(folder, "uploads", name) for name in os.listdir(os.path.join(folder, "uploads"))]
        found = [name for name in stored if b"s3cret" in open(name, "rb").read() or b"Bearer" in open(name, "rb").read()]
        claims.check("no credential is in the folder", not found)

        held = socket.create_connection((server.host, server.port), source_address=("127.0.0.2", 0))
        lines = {**PART, **ben, "Host": "127.0.0.1", "Upload-Offset": "1", "Upload-Complete": "?1", "Content-Length": "9"}
        head = f"PATCH {fields['Location']} HTTP/1.1\r\n" + "".join(f"{name}: {lines[name]}\r\n" for name in lines)
        held.sendall(head.encode() + b"\r\n")
        start = time.monotonic()
        held.settimeout(60)
        answer = held.recv(100)
        claims.note(f"an append that sends nothing: {answer[:12].decode()!r} after {time.monotonic() - start:.0f} s")
        claims.check("it ends after 20 s", b"408" in answer and time.monotonic() - start < 30)
        status, state, _ = server.request("HEAD", fields["Location"], headers={**VERSION, **ben}, source="127.0.0.2")
        claims.check("its upload can be continued", status == 204 and state.get("Upload-Offset") == "1")
claims.end()
