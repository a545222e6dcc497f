"""An app for Hypercorn: reports what it received, and responds with bodies of every size and shape."""

import hashlib
from urllib.parse import parse_qs


def number(query, name, default):
    return int(query.get(name, [default])[0])


async def read(receive):
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    query = parse_qs(scope["query_string"].decode())
    path = scope["path"]
    fields = [(b"x-app", b"peers"), (b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]
    status = number(query, "status", 200)

    if path == "/early":
        # The response comes while the body of the request is still on its way.
        body = b"no need for that"
    else:
        received = await read(receive)
        body = bytes((n * 31 + n // 256) % 256 for n in range(number(query, "bytes", 0)))
        if path == "/echo":
            seen = sorted(
                f"{name.decode()}: {value.decode('latin-1')}"
                for name, value in scope["headers"]
                if name not in (b"host", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"via")
            )
            digest = hashlib.sha256(received).hexdigest()
            body = "\n".join([scope["method"], path, scope["query_string"].decode(), *seen, digest]).encode()

    if number(query, "length", 1):
        fields.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    parts = max(1, number(query, "parts", 1))
    size = -(-len(body) // parts)
    for part in range(parts):
        await send(
            {"type": "http.response.body", "body": body[part * size : (part + 1) * size], "more_body": part < parts - 1}
        )
