"""The calls that are compared: the words for each program, after its name. `B/` is the address of httpbin.

Every program has to succeed, unless the call says that it `fails`. `raw` compares what came back, byte by byte. `httpie_type` replaces the
media type of httpie's request before it is compared, and nothing else.
"""


def case(name, runway, httpie, curl, **more):
    return {"name": name, "runway": runway, "httpie": httpie, "curl": curl, **more}


ANY = "B/anything"
JSON = ["-H", "Content-Type: application/json"]
OCTETS = ["-H", "Content-Type: application/octet-stream"]
FORM = ["-H", "Content-Type: application/x-www-form-urlencoded; charset=utf-8"]
# Media types that httpie names otherwise, each with the one that is meant: forms have no charset, and not every input is JSON.
CHARSET = {"application/x-www-form-urlencoded; charset=utf-8": "application/x-www-form-urlencoded"}
STDIN = {"application/json": "application/octet-stream"}

CASES = [
    # Method and URL.
    case("GET by default", [ANY], [ANY], [ANY]),
    case("GET by name", ["GET", ANY], ["GET", ANY], ["-X", "GET", ANY]),
    case("method in lower case", ["get", ANY], ["get", ANY], [ANY]),
    case("host and port", ["127.0.0.1:PORT/anything"], ["127.0.0.1:PORT/anything"], ["127.0.0.1:PORT/anything"]),
    case("localhost", ["localhost:PORT/anything"], ["localhost:PORT/anything"], ["localhost:PORT/anything"]),
    case("port alone", [":PORT/anything"], [":PORT/anything"], None),
    case("POST if there is data", [ANY, "a=1"], [ANY, "a=1"], [ANY, *JSON, "-d", '{"a":"1"}']),
    case("POST of nothing", ["POST", ANY], ["POST", ANY], ["-X", "POST", ANY]),
    case("PUT", ["PUT", ANY, "a=1"], ["PUT", ANY, "a=1"], ["-X", "PUT", ANY, *JSON, "-d", '{"a":"1"}']),
    case("PATCH", ["PATCH", ANY, "a=1"], ["PATCH", ANY, "a=1"], ["-X", "PATCH", ANY, *JSON, "-d", '{"a":"1"}']),
    case("DELETE", ["DELETE", ANY], ["DELETE", ANY], ["-X", "DELETE", ANY]),
    case("DELETE with a body", ["DELETE", ANY, "a=1"], ["DELETE", ANY, "a=1"], ["-X", "DELETE", ANY, *JSON, "-d", '{"a":"1"}']),
    case("OPTIONS", ["OPTIONS", ANY], ["OPTIONS", ANY], ["-X", "OPTIONS", ANY]),
    # Queries.
    case("query", [ANY, "a==1", "b==2"], [ANY, "a==1", "b==2"], [ANY + "?a=1&b=2"]),
    case("query added to the URL's", [ANY + "?z=9", "a==1"], [ANY + "?z=9", "a==1"], [ANY + "?z=9&a=1"]),
    case("query twice", [ANY, "a==1", "a==2"], [ANY, "a==1", "a==2"], [ANY + "?a=1&a=2"]),
    case("query with signs", [ANY, "q==a&b=c d"], [ANY, "q==a&b=c d"], ["-G", ANY, "--data-urlencode", "q=a&b=c d"]),
    case("query in Chinese", [ANY, "q==上海"], [ANY, "q==上海"], ["-G", ANY, "--data-urlencode", "q=上海"]),
    case("query without a value", [ANY, "q=="], [ANY, "q=="], [ANY + "?q="]),
    case("escaped query in the URL", [ANY + "?q=%41%2F"], [ANY + "?q=%41%2F"], [ANY + "?q=%41%2F"]),
    case("query from a file", [ANY, "q==@text.txt"], [ANY, "q==@text.txt"], [ANY + "?q=from%20file"]),
    # Header fields.
    case("header field", [ANY, "X-A:1"], [ANY, "X-A:1"], [ANY, "-H", "X-A: 1"]),
    case("header field with words", [ANY, "X-A:two words"], [ANY, "X-A:two words"], [ANY, "-H", "X-A: two words"]),
    case("header field from a file", [ANY, "Authorization:@token"], [ANY, "Authorization:@token"], [ANY, "-H", "Authorization: Bearer t"]),
    case("cookie", [ANY, "Cookie:a=1"], [ANY, "Cookie:a=1"], [ANY, "-b", "a=1"]),
    case("empty header field", [ANY, "X-A:"], [ANY, "X-A;"], [ANY, "-H", "X-A;"]),
    case("referrer", [ANY, "Referer:http://x/"], [ANY, "Referer:http://x/"], [ANY, "-e", "http://x/"]),
    # JSON.
    case("numbers", [ANY, "a:=1", "b:=1.5"], [ANY, "a:=1", "b:=1.5"], [ANY, *JSON, "-d", '{"a":1,"b":1.5}']),
    case("true and null", [ANY, "a:=true", "b:=null"], [ANY, "a:=true", "b:=null"], [ANY, *JSON, "-d", '{"a":true,"b":null}']),
    case("array and object", [ANY, 'a:=[1,{"b":2}]'], [ANY, 'a:=[1,{"b":2}]'], [ANY, *JSON, "-d", '{"a":[1,{"b":2}]}']),
    case("text in Chinese", [ANY, "a=上海"], [ANY, "a=上海"], [ANY, *JSON, "-d", '{"a":"上海"}']),
    case("text with quotes", [ANY, 'a=x"y\\z'], [ANY, 'a=x"y\\z'], [ANY, *JSON, "-d", '{"a":"x\\"y\\\\z"}']),
    case("empty text", [ANY, "a="], [ANY, "a="], [ANY, *JSON, "-d", '{"a":""}']),
    case("escaped sign in a name", [ANY, "a\\:b=c"], [ANY, "a\\:b=c"], [ANY, *JSON, "-d", '{"a:b":"c"}']),
    case("URL as a value", [ANY, "u=http://x/?a==b"], [ANY, "u=http://x/?a==b"], [ANY, *JSON, "-d", '{"u":"http://x/?a==b"}']),
    case("text from a file", [ANY, "a=@text.txt"], [ANY, "a=@text.txt"], [ANY, *JSON, "-d", '{"a":"from file\\n"}']),
    case("JSON from a file", [ANY, "a:=@n.json"], [ANY, "a:=@n.json"], [ANY, "--json", '{"a":{"n":1.5}}']),
    case("media type of one's own", [ANY, "a=1", "Content-Type:application/x+json"], [ANY, "a=1", "Content-Type:application/x+json"],
         [ANY, "-H", "Content-Type: application/x+json", "-d", '{"a":"1"}']),
    # Forms.
    case("form", ["-f", ANY, "a=1", "b=2"], ["-f", ANY, "a=1", "b=2"], [ANY, "-d", "a=1&b=2"], httpie_type=CHARSET),
    case("form with spaces", ["-f", ANY, "a=x y&z"], ["-f", ANY, "a=x y&z"], [ANY, "--data-urlencode", "a=x y&z"], httpie_type=CHARSET),
    case("form in Chinese", ["-f", ANY, "a=上海"], ["-f", ANY, "a=上海"], [ANY, "--data-urlencode", "a=上海"], httpie_type=CHARSET),
    case("form by PUT", ["-f", "PUT", ANY, "a=1"], ["-f", "PUT", ANY, "a=1"], ["-X", "PUT", ANY, "-d", "a=1"], httpie_type=CHARSET),
    case("form from a file", ["-f", ANY, "a=@text.txt"], ["-f", ANY, "a=@text.txt"], [ANY, "--data-urlencode", "a@text.txt"], httpie_type=CHARSET),
    case("form without fields", ["-f", "GET", ANY], None, [ANY]),
    case("form by default", ["-f", ANY], None, [ANY]),
    case("form from standard input", ["-f", "POST", ANY], ["-f", "POST", ANY], [ANY, "--data-binary", "@-"], stdin="a=1&b=2", httpie_type=CHARSET),
    case("file in a form", [ANY, "f@text.txt"], ["-f", ANY, "f@text.txt"], [ANY, "-F", "f=@text.txt"]),
    case("binary file in a form", [ANY, "f@bin"], ["-f", ANY, "f@bin"], [ANY, "-F", "f=@bin"]),
    case("field and file", [ANY, "a=1", "f@bin"], ["-f", ANY, "a=1", "f@bin"], [ANY, "-F", "a=1", "-F", "f=@bin"]),
    case("file with a media type", [ANY, "f@bin;type=image/png"], ["-f", ANY, "f@bin;type=image/png"], [ANY, "-F", "f=@bin;type=image/png"]),
    # Bodies.
    case("JSON file as the body", [ANY, "--body", "n.json"], [ANY, "@n.json"], [ANY, *JSON, "--data-binary", "@n.json"]),
    case("binary file as the body", ["PUT", ANY, "--body", "bin"], ["PUT", ANY, "@bin", "Content-Type:application/octet-stream"],
         ["-X", "PUT", ANY, *OCTETS, "--data-binary", "@bin"]),
    case("JSON piped", [ANY], [ANY], [ANY, *JSON, "--data-binary", "@-"], stdin='{"a": 1}'),
    case("text piped", [ANY], [ANY], [ANY, *OCTETS, "--data-binary", "@-"], stdin="plain", httpie_type=STDIN),
    case("CSV piped", [ANY, "Content-Type:text/csv"], [ANY, "Content-Type:text/csv"],
         [ANY, "-H", "Content-Type: text/csv", "--data-binary", "@-"], stdin="a,b\n"),
    case("input not read", ["-I", ANY], ["-I", ANY], [ANY], stdin="for others"),
    # Credentials.
    case("Basic", ["-a", "ada:pw", ANY], ["-a", "ada:pw", ANY], ["-u", "ada:pw", ANY]),
    case("Basic with an empty password", ["-a", "ada:", ANY], ["-a", "ada:", ANY], ["-u", "ada:", ANY]),
    case("Basic is accepted", ["-a", "u:p", "B/basic-auth/u/p"], ["-a", "u:p", "B/basic-auth/u/p"], ["-u", "u:p", "B/basic-auth/u/p"]),
    case("bearer token", ["B/bearer", "Authorization:Bearer t"], ["-A", "bearer", "-a", "t", "B/bearer"], ["--oauth2-bearer", "t", "B/bearer"]),
    # Redirects, cookies, sessions.
    case("redirects", ["B/redirect/3"], ["--follow", "B/redirect/3"], ["-L", "B/redirect/3"]),
    case("redirect of a POST", ["B/redirect-to?url=/anything&status_code=307", "a=1"],
         ["--follow", "B/redirect-to?url=/anything&status_code=307", "a=1"],
         ["-L", "B/redirect-to?url=/anything&status_code=307", *JSON, "-d", '{"a":"1"}']),
    case("redirect not followed", ["--no-follow", "B/redirect/1"], ["--body", "B/redirect/1"], ["B/redirect/1"], raw=True),
    case("cookies of a redirect", ["B/cookies/set?a=1"], ["--follow", "B/cookies/set?a=1"], ["-L", "-b", "", "B/cookies/set?a=1"]),
    case("cookies of a session", [["--session", "s", "B/cookies/set?a=1"], ["--session", "s", "B/cookies"]],
         [["--session", "s", "B/cookies/set?a=1"], ["--session", "s", "B/cookies"]],
         [["-c", "jar", "B/cookies/set?a=1"], ["-b", "jar", "B/cookies"]]),
    case("token of a session", [["--session", "t", "-a", "u:p", ANY], ["--session", "t", ANY]],
         [["--session", "t", "-a", "u:p", ANY], ["--session", "t", ANY]], None),
    # Responses.
    case("gzip", ["B/gzip"], ["--body", "B/gzip"], ["--compressed", "B/gzip"]),
    case("text in UTF-8", ["B/encoding/utf8"], ["--body", "B/encoding/utf8"], ["B/encoding/utf8"], raw=True),
    case("bytes to a pipe", ["B/image/png"], ["--body", "B/image/png"], ["B/image/png"], raw=True),
    case("404 is a failure", ["-o", "-", "B/status/404"], ["--check-status", "--body", "B/status/404"], ["-f", "B/status/404"], raw=True, fails=True),
]
