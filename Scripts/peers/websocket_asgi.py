"""A server of WebSockets as an ASGI application, for PyPI's hypercorn in Scripts/websockets.sh: it speaks WebSocket over HTTP/1.1 and
on streams of HTTP/2.

Below any base path: echo returns every message, fragments sends messages and closes; the response to a plain request is the version of HTTP.
"""


async def app(scope, receive, send):
    if scope["type"] == "http":
        fields = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": scope["http_version"].encode()})
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"].endswith("/fragments"):
            await send({"type": "websocket.send", "text": "fragment é " * 100})
            await send({"type": "websocket.send", "bytes": bytes([7]) * 100_000})
            await send({"type": "websocket.close", "code": 4001, "reason": "all sent"})
            return
        while (message := await receive())["type"] == "websocket.receive":
            if message.get("text") is not None:
                await send({"type": "websocket.send", "text": message["text"]})
            else:
                await send({"type": "websocket.send", "bytes": message["bytes"]})
