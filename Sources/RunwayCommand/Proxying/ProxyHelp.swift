/// The part of the text of `runway proxy --help` that does not describe options.
enum ProxyHelp {
    // Lines have at most 78 columns, since the parser wraps the help at 80.
    static let discussion = """
        Listens on this machine. With --origin, every request goes to that server.
        Without it, this is a forward proxy, for clients that are configured to use
        one: they name a server in every request. Requests pass all stages of the
        layer but one: redirects are passed on, since the client follows them
        itself. A line on standard output says of every call how it ended and
        what the layer decided.

        Clients see every response of the server, whatever its status. With
        --policies the layer acts as in an app: it retries what may be retried,
        sends nothing for a while to a server that keeps failing, and refuses a
        request that is made too often.

        FORWARD PROXY
          Plain http requests pass the layer. CONNECT opens a tunnel, as https
          needs it, which the proxy does not look into: a line says where it led,
          how long it lasted, and how many bytes passed. Tunnels lead to port 443,
          and to the ports of --connect-port; other ports are refused with 403.
          At most 256 are open at a time (503), each ends after --client-timeout
          without a byte, and it has to be the first request of its connection.

          Addresses of this machine, of its link and of private networks are
          refused with 403, whatever the name or notation by which a request comes
          to them, unless --allow-local is given. Names are looked up once, and
          only an address that was checked is connected to.

        MESSAGES
          Requests and responses are passed unchanged: method, path and query,
          bodies in any content coding, repeated header fields separately and in
          order, Date and Age. Not passed are the hop-by-hop fields (RFC 9110
          §7.6.1): Connection and the fields it names, Keep-Alive,
          Proxy-Connection, Proxy-Auth…, TE, Trailer, Transfer-Encoding and
          Upgrade. Host is replaced by the origin's. Trailers are dropped in both
          directions, and so are interim responses (1xx) of the server. The proxy
          itself handles "Expect: 100-continue". Requests get a Via field (RFC
          9110 §7.6.3), which makes some servers stop compressing. Responses get
          no Via, but a Date if they have none. Equal Content-Length values are
          passed as one, and none with status 204. Bytes in header values that are
          not UTF-8 are lost; over HTTP/2, Set-Cookie fields with such bytes are
          left out, and a redirect to such a Location becomes a 502.

          Clients speak HTTP/1.1, or HTTP/1.0 with one request per connection. A
          request to upgrade, to WebSocket or to HTTP/2, is passed without the
          upgrade. With --origin, CONNECT is refused (501). So are "OPTIONS *",
          methods that the parser does not know and transfer codings other than
          chunked (501), more than 64 KiB of header fields or 32 KiB in one field
          (431), and malformed HTTP (400).

          Response bodies are streamed. With --cache http (the default), responses
          of at most 16 MiB are stored as RFC 9111 allows a private cache, except
          those with Set-Cookie, and are returned only to requests with the same
          credentials: the same Authorization, Cookie, Host, and fields whose names
          say a secret, such as X-API-Key. --auth-field names others, such as
          X-Member. Any other field counts if a response's Vary names it (RFC 9111
          §4.1), so that a number of each request costs no hit. With this cache, each
          response has a Cache-Status field (RFC 9211): "runway; hit" if it was in
          the cache, or else why the request was forwarded. Request bodies are
          streamed too, except those whose Content-Length is at most 64 KiB: these
          are buffered, so that they can be sent again over another connection.

        ERRORS
          If the server does not respond, the proxy does, with a JSON body that
          names the error and a Proxy-Status field that begins with "runway" (RFC
          9209): 504 after a timeout, 503 and Retry-After if the layer asks for
          fewer requests or sends none to a server that keeps failing, and 502
          otherwise, for example if the server switches protocols (101) unasked.
          A client that is silent for longer than --client-timeout, while it sends
          a body or should read a response, gets 408 or is disconnected. So is a
          connection on which no whole head comes within that time. At most 512
          connections are open at a time; others wait.

        SHOWING BODIES
          --show-bodies prints the heads of the last request and response of every
          call, without secrets, and the first 4 KiB of each body in one line,
          with secrets in JSON and forms masked. A body that is not text, or is in
          a content coding, is described by size and type. Secrets in other text
          can't be recognised.

        WHO MAY CALL
          Only this machine can reach the proxy. With --origin, it does so only
          under a name of its own or the origin's: a request for any other host is
          refused with 421, so that no web page can use it under a name of its
          own. With --allow-remote it may listen on any address: everyone who reaches
          it then can call the servers through it. Its own names are then the
          address in --listen and the one that the client connected to;
          --allow-host adds others, such as the name that other machines know this
          one by. A Host field that is malformed, or has a user name in it, is
          refused with 400.

        Ctrl-C and SIGTERM stop it at once, whatever is under way.

        EXAMPLES
          runway proxy --origin https://api.github.com
          runway proxy --origin http://127.0.0.1:3000 --listen 127.0.0.1:8080
          runway proxy --origin https://example.com --cache none --json
          runway proxy --listen 127.0.0.1:3128 --show-bodies
          https_proxy=http://127.0.0.1:3128 curl https://example.com

        EXIT CODES
          0    The proxy was stopped, by Ctrl-C or SIGTERM.
          2    The command line can't be used, or the port can't be bound.
        """
}
