/// The part of the text of `runway call --help` that does not describe options.
enum CallHelp {
    // Lines have at most 78 columns, since the parser wraps the help at 80.
    static let discussion = """
        METHOD AND URL
          The method may be left out: it is POST if there is a body, and GET
          otherwise. A URL without http:// or https:// is called by https, and this
          machine itself (localhost, 127.0.0.1, [::1]) by http: example.com/x is
          https://example.com/x, and :8080/x is http://localhost:8080/x. Path and
          query are sent as they are written.

        ITEMS
          Every item is a name, a sign and a value, in one argument of the shell:

          name==value   a query parameter, added to those of the URL
          name=value    a member of the JSON body, a string; in a form a field
          name:=json    a member of the JSON body, as JSON: a number, true,
                        false, null, an array, an object, a string
          name:value    a header field of the request
          name@file     a file of a form (multipart/form-data); the item may end
                        in ;type= and a media type

          name==@file, name=@file, name:=@file and name:@file take the value from
          a file, of at most 16 MiB and in UTF-8; except for name=@file, a line
          feed at its end is left out. name=\\@text is the text "@text".

          The first sign in the item counts. In the name a backslash takes away
          the meaning of the character after it: 'a\\:b=c' is the member "a:b".
          The value is everything after the sign, as it is. An item with blanks,
          quotes or other signs of the shell belongs in single quotes:
          'title=two words', 'tags:=["a","b"]'. Items that begin with a hyphen
          come after "--".

        BODY
          Items make a JSON object (application/json) in the order in which they
          are written, with --form a form, and with a name@file among them a form
          with files. --body sends a file or standard input as it is: as
          application/json if the name ends in .json, else as
          application/octet-stream. The item Content-Type:… says something else.

          What is piped or redirected to standard input is the body if no item
          and no --body makes one, unless the method is GET, HEAD, OPTIONS or
          TRACE: as application/json if it is JSON, else as
          application/octet-stream, and with --form as the form that it is.
          Without a method, it is read in any case;
          -I leaves it to other commands of a script. Standard input is read to
          its end first, at most 16 MiB; a file may have any size.

        CREDENTIALS AND SESSIONS
          --auth user:password is Basic authentication. Other users of this
          machine can see the arguments of a command: without a password --auth
          asks for it, and 'Authorization:@file' reads a token from a file.

          --session NAME stores cookies, and for each origin the Authorization
          field, and sends them with later calls of the session. The file
          $XDG_CONFIG_HOME/runway/sessions/NAME.json (or ~/.config/…) is for you
          alone (mode 0600), and replaced as a whole; it has at most 200 cookies
          and 64 tokens. A damaged file is moved to NAME.json.damaged. A token
          that the server refuses with 401 is not stored. Without --session,
          cookies are sent only within one call, to the targets of redirects.
          A cookie for a domain is sent to all hosts of the domain, if this system
          has the Public Suffix List; if not, only to the host that set it.

        CONNECTION
          --insecure accepts any certificate of the URL's host, with a warning;
          the hosts that redirects lead to are verified. --cert and --key are for
          the URL's host, too.

          Without --proxy, the variables https_proxy, http_proxy, all_proxy and
          no_proxy of the environment count, in lower case first and then in
          upper case; HTTP_PROXY is not read. They are ignored for calls to this
          machine itself; --proxy is not. "--proxy none" uses no proxy. A variable
          that names no usable proxy fails only the calls that would use it.

        SIGNATURES
          --sign FILE signs every request to the URL's origin, retries and
          redirects included, as "runway sign" does: see its help for keys, ways
          and components. A server that refuses the time, or asks for a nonce or
          other components, gets one more signature. --offline prints what would
          be sent, with --show-secrets the signature, too.

        RESPONSE
          JSON is indented, at most 32 levels, and on a terminal coloured. Other
          text is written in UTF-8, whatever its charset; one that is not UTF-8 is
          written when all of it was received, and above 16 MiB as it comes. What
          is not text is described by size and type on a terminal, and written
          byte for byte to a file or pipe; so is a body in a content coding that
          is not known here. JSON of more than 16 MiB, or of more than 512 levels,
          is written as it comes. HEAD prints the head.

          On a terminal, control characters in what a server sent, and those that
          change the direction of text, are written as \\u001B. "--output -"
          writes everything byte for byte, to a terminal too. "--color always"
          also escapes them, for a pager.

          With --output FILE the file appears when the body is complete and the
          server did not refuse. Until then, and if not, what stood there stays;
          what a refusing server says is shown instead. With --continue, what was
          received stays in FILE.part after a failure or Ctrl-C, and the same
          command requests the rest, if the server supports ranges and the file
          has not changed. It downloads nothing if FILE has as many bytes as the
          server's file. The request that asks for more has If-Unmodified-Since
          with the time of FILE. A server may ignore that: as with curl's "-C -",
          only the number of bytes is certain.

          Redirects are followed, at most ten. One that leads to a request that
          was sent already, with no new cookie, is not followed: it is printed.

        JSON FOR PROGRAMS
          --json prints {"request", "response", "flight", "error"}; what there is
          not is left out. Header fields are pairs [name, value] in their order.
          A body is text in "body" or, if it is not text, Base64 in "bodyBase64";
          text with malformed bytes is in both. A response may have 64 MiB.
          "contentCoding" names a coding that is not known here; the body is Base64
          then. Times are seconds. "flight" has the outcome, every decision of the
          layer, and every request that was sent ("attempts"). With --offline there
          is only "request".

          Secrets in the request, in header fields and in the flight are replaced
          by [redacted] unless --show-secrets is given. The body of the response is
          never changed.

        EXAMPLES
          runway call httpbin.org/get city==上海 limit==3
          runway call httpbin.org/post name=Ada age:=36 --verbose
          runway call :8080/users name=Ada
          runway call -f httpbin.org/post user=ada 'word=two words'
          runway call httpbin.org/post title=Beach 'photo@a.jpg;type=image/jpeg'
          runway call PUT httpbin.org/put --body a.jpg Content-Type:image/jpeg
          jq .user data.json | runway call httpbin.org/post
          runway call example.com/large.iso -c --output large.iso
          runway call -a ada --session work api.example.com/me
          runway call POST api.example.com/items name=x --curl

        EXIT CODES
          0    The response was fine, or with --offline and --curl the request.
          1    The server refused (a status of 400 or more), its response was not
               judged fine, or a body that was declared as JSON is not valid JSON.
          2    The command line, or a file that it names, can't be used.
          3    No complete response: no network, no trust (TLS), or a timeout.
          130  Ctrl-C; 143 for SIGTERM. What was begun is stopped at once, and no
               half-written file is left, except FILE.part of --continue.
        """
}
