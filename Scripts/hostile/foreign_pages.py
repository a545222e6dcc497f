"""Requests as a web page of others makes them: without asking, and after it has rebound its name to the loopback."""

import os
import tempfile

from servers import Claims, Server

claims = Claims("foreign-pages")
PAGE = "http://evil.test"


def attack(server, name, routes):
    for method, path in routes:
        body = b"{}" if method != "GET" else b""
        for what, fields in [
            ("a page", {"Origin": PAGE}), ("a sandboxed page", {"Origin": "null"}),
            ("another server of this machine", {"Origin": "http://localhost:3000"}),
            ("a page that rebinds", {"Host": "evil.test"}),
            ("a page that rebinds, with a port", {"Host": f"evil.test:{server.port}"}),
            ("a name that looks local", {"Host": "127.0.0.1.evil.test"}),
        ]:
            status, _, _ = server.request(method, path, body, fields)
            claims.check(f"{name}, {method} {path} of {what}: {status}", status == 403)
        if method == "POST":
            for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""]:
                status, _, _ = server.request(method, path, body, {"Content-Type": kind})
                claims.check(f"{name}, {method} {path} with content of the type {kind!r}: {status}", status == 415)
    status, fields, _ = server.request(
        "OPTIONS", routes[0][1], headers={"Origin": PAGE, "Access-Control-Request-Method": "POST"})
    allowed = [field for field in fields if field.lower().startswith("access-control")]
    claims.check(f"{name}, preflight: {status}", status == 403 and not allowed)


with tempfile.TemporaryDirectory() as folder:
    with Server("serve", "--log", os.path.join(folder, "actions.sqlite"), "--plain") as server:
        attack(server, "log", [("POST", server.path), ("POST", server.path + "/erasure"), ("GET", "/nothing")])
        for host in [f"localhost:{server.port}", "LOCALHOST", "app.localhost", "127.0.0.1", "[::1]"]:
            status, _, _ = server.request("POST", server.path, b"{}", {"Host": host})
            claims.check(f"log, host {host}: {status}", status == 400)
    with Server("serve", "--plain", "--listings", "10") as server:
        attack(server, "listings", [
            ("GET", "/esf/list"), ("GET", "/failing/list"), ("POST", "/member/login"), ("POST", "/member/token"),
            ("POST", "/_batch")])
        claims.check("listings, own request", server.request("GET", "/esf/list")[0] == 200)
    place = os.path.join(folder, "other.sqlite")
    options = ["--host", "0.0.0.0", "--allow-host", "log.test", "--allow-origin", "http://shop.test"]
    with Server("serve", "--log", place, "--plain", *options) as server:
        server.host = "127.0.0.1"
        for host, expected in [("10.1.2.3", 400), ("log.test", 400), ("127.0.0.1", 400), ("evil.test", 403)]:
            status, _, _ = server.request("POST", server.path, b"{}", {"Host": host})
            claims.check(f"log of all addresses, host {host}: {status}", status == expected)
        status, fields, _ = server.request("POST", server.path, b"{}", {"Origin": "http://shop.test"})
        claims.check("an allowed page", status == 400 and fields.get("Access-Control-Allow-Origin") == "http://shop.test")
claims.end()
