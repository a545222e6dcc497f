/// Messages that several examples of RFC 9421 share.
enum ExampleTexts {
    static let digest = #"""
        sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
        """#

    /// `test-request` of appendix B.2.
    static let request = #"""
        POST /foo?param=Value&Pet=dog HTTP/1.1
        Host: example.com
        Date: Tue, 20 Apr 2021 02:07:55 GMT
        Content-Type: application/json
        Content-Digest: sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+T\
          aPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
        Content-Length: 18

        {"hello": "world"}
        """#

    /// `test-response` of appendix B.2.
    static let response = #"""
        HTTP/1.1 200 OK
        Date: Tue, 20 Apr 2021 02:07:56 GMT
        Content-Type: application/json
        Content-Digest: sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41Q\
          JgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:
        Content-Length: 23

        {"message": "good dog"}
        """#

    /// The response of §2.4.
    static let busyResponse = #"""
        HTTP/1.1 503 Service Unavailable
        Date: Tue, 20 Apr 2021 02:07:56 GMT
        Content-Type: application/json
        Content-Length: 62
        Content-Digest: sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObfwn\
          HJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:

        {"busy": true, "message": "Your call is very important to us"}
        """#
}
