/// The part of `runway call --help` that its options do not cover.
enum CallHelp {
    // Lines have at most 78 columns, since the help is wrapped at 80.
    static let discussion = """
        ITEMS
          Every item is a name, a sign and a value, in one argument of the shell:

          name==value   a query parameter, added to those of the URL
          name=value    a member of the JSON body, a string; with --form a
                        field of the form
          name:=json    a member of the JSON body, as JSON: a number, true,
                        false, null, an array, an object, a string
          name:value    a header field of the request

          The first sign in the item counts. In the name a backslash takes away
          the meaning of the character after it: 'a\\:b=c' is the member "a:b".
          The value is everything after the sign, as it is. An item with blanks,
          quotes or other signs of the shell belongs in single quotes:
          'title=two words', 'tags:=["a","b"]'. Items that begin with a hyphen
          come after "--".

        BODY
          Items make a JSON object (application/json) in the order in which they
          are written, or with --form a form. --body sends a file or standard
          input as it is: as application/json if the name ends in .json, else as
          application/octet-stream. The item Content-Type:… says something else.
          Standard input is read to its end first, at most 16 MiB; a file may
          have any size.

        RESPONSE
          JSON is indented, at most 32 levels, and on a terminal coloured. Other
          text is shown as it is. What is not text is described by size and type
          on a terminal, and written byte for byte to a file or pipe; so is a body
          in a content coding that is not known here. JSON of more than 16 MiB, or
          of more than 512 levels, is written as it comes.

          On a terminal, control characters in what a server sent, and those that
          change the direction of text, are written as \\u001B. "--output -"
          writes everything byte for byte, to a terminal too.

          With --output FILE the file appears when the body is complete and the
          server did not refuse. Until then, and if not, what stood there stays;
          what a refusing server says is shown instead.

          Redirects are followed, at most ten.

        JSON FOR PROGRAMS
          --json prints {"request", "response", "flight", "error"}; what there is
          not is left out. Header fields are pairs [name, value] in their order.
          A body is text in "body" or, if it is not text, Base64 in "bodyBase64";
          that of the response may have 64 MiB. "contentCoding" names a coding that is
          not known here; the body is Base64 then. Times are seconds. "flight" has
          the outcome, every decision of the layer, and every request that was sent
          ("attempts").

          Secrets in the request, in header fields and in the flight are replaced
          by [redacted] unless --show-secrets is given. The body of the response is
          never changed.

        EXAMPLES
          runway call GET https://httpbin.org/get city==上海 limit==3
          runway call POST https://httpbin.org/post name=Ada age:=36 --verbose
          runway call POST https://httpbin.org/post --form user=ada 'word=two words'
          runway call PUT https://httpbin.org/put --body a.jpg Content-Type:image/jpeg
          runway call GET https://example.com/large.iso --output large.iso
          runway call GET https://api.example.com/me 'Authorization:Bearer abc'
          runway call GET https://127.0.0.1:8443/zf/list --cacert ca.pem --json

        EXIT CODES
          0    The response was fine.
          1    The server refused (a status of 400 or more), its response was not
               judged fine, or a body that was declared as JSON is not valid JSON.
          2    The command line, or a file that it names, can't be used.
          3    No complete response: no network, no trust (TLS), or a timeout.
          130  Ctrl-C; 143 for SIGTERM. What was begun is stopped at once, and no
               half-written file is left.
        """
}
