extension SignatureExample {
    static let responses = [
        SignatureExample(
            testDescription: "B.2.4", key: "test-key-ecc-p256", message: ExampleTexts.response,
            base: #"""
                "@status": 200
                "content-type": application/json
                "content-digest": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ4\
                  1QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:
                "content-length": 23
                "@signature-params": ("@status" "content-type" "content-digest" \
                  "content-length");created=1618884473;keyid="test-key-ecc-p256"
                """#,
            fields: #"""
                Signature-Input: sig-b24=("@status" "content-type" \
                  "content-digest" "content-length");created=1618884473\
                  ;keyid="test-key-ecc-p256"
                Signature: sig-b24=:wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NK\
                  ocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==:
                """#),
        SignatureExample(
            testDescription: "§2.4, to an unsigned request", key: "test-key-ecc-p256",
            message: ExampleTexts.busyResponse,
            request: ExampleTexts.request,
            base: #"""
                "@status": 503
                "content-digest": sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObf\
                  wnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:
                "content-type": application/json
                "@authority";req: example.com
                "@method";req: POST
                "@path";req: /foo
                "content-digest";req: sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A\
                  2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "@signature-params": ("@status" "content-digest" "content-type" \
                  "@authority";req "@method";req "@path";req "content-digest";req)\
                  ;created=1618884479;keyid="test-key-ecc-p256"
                """#,
            fields: #"""
                Signature-Input: reqres=("@status" "content-digest" "content-type" \
                  "@authority";req "@method";req "@path";req "content-digest";req)\
                  ;created=1618884479;keyid="test-key-ecc-p256"
                Signature: reqres=:dMT/A/76ehrdBTD/2Xx8QuKV6FoyzEP/I9hdzKN8LQJLNgzU\
                  4W767HK05rx1i8meNQQgQPgQp8wq2ive3tV5Ag==:
                """#),
        SignatureExample(
            testDescription: "§2.4, to a signed request", key: "test-key-ecc-p256", message: ExampleTexts.busyResponse,
            request: ExampleTexts.request,
            base: #"""
                "@status": 503
                "content-digest": sha-512=:0Y6iCBzGg5rZtoXS95Ijz03mslf6KAMCloESHObf\
                  wnHJDbkkWWQz6PhhU9kxsTbARtY2PTBOzq24uJFpHsMuAg==:
                "content-type": application/json
                "@authority";req: example.com
                "@method";req: POST
                "@path";req: /foo
                "@query";req: ?param=Value&Pet=dog
                "content-digest";req: sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A\
                  2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "content-type";req: application/json
                "content-length";req: 18
                "@signature-params": ("@status" "content-digest" "content-type" \
                  "@authority";req "@method";req "@path";req "@query";req \
                  "content-digest";req "content-type";req "content-length";req)\
                  ;created=1618884479;keyid="test-key-ecc-p256"
                """#,
            fields: #"""
                Signature-Input: reqres=("@status" "content-digest" "content-type" \
                  "@authority";req "@method";req "@path";req "@query";req \
                  "content-digest";req "content-type";req "content-length";req)\
                  ;created=1618884479;keyid="test-key-ecc-p256"
                Signature: reqres=:C73J41GVKc+TYXbSobvZf0CmNcptRiWN+NY1Or0A36ISg6ym\
                  dRN6ZgR2QfrtopFNzqAyv+CeWrMsNbcV2Ojsgg==:
                """#),
    ]

    static let proxies = [
        SignatureExample(
            testDescription: "§4.3, the client", key: "test-key-ecc-p256", message: ExampleTexts.request,
            base: #"""
                "@method": POST
                "@authority": example.com
                "@path": /foo
                "content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX\
                  +TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "content-type": application/json
                "content-length": 18
                "@signature-params": ("@method" "@authority" "@path" \
                  "content-digest" "content-type" "content-length")\
                  ;created=1618884475;keyid="test-key-ecc-p256"
                """#,
            fields: #"""
                Signature-Input: sig1=("@method" "@authority" "@path" \
                  "content-digest" "content-type" "content-length")\
                  ;created=1618884475;keyid="test-key-ecc-p256"
                Signature: sig1=:X5spyd6CFnAG5QnDyHfqoSNICd+BUP4LYMz2Q0JXlb//4Ijpzp\
                  +kve2w4NIyqeAuM7jTDX+sNalzA8ESSaHD3A==:
                """#),
        SignatureExample(
            testDescription: "§4.3, the proxy", key: "test-key-rsa",
            message: ExampleTexts.request.replacing(
                "Host: example.com",
                with: "Host: origin.host.internal.example\nForwarded: for=192.0.2.123;host=example.com;proto=https"),
            base: #"""
                "@method": POST
                "@authority": origin.host.internal.example
                "@path": /foo
                "content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX\
                  +TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "content-type": application/json
                "content-length": 18
                "forwarded": for=192.0.2.123;host=example.com;proto=https
                "@signature-params": ("@method" "@authority" "@path" \
                  "content-digest" "content-type" "content-length" "forwarded")\
                  ;created=1618884480;keyid="test-key-rsa";alg="rsa-v1_5-sha256"\
                  ;expires=1618884540
                """#,
            fields: #"""
                Signature-Input: proxy_sig=("@method" "@authority" "@path" "content-digest" \
                    "content-type" "content-length" "forwarded")\
                    ;created=1618884480;keyid="test-key-rsa";alg="rsa-v1_5-sha256"\
                    ;expires=1618884540
                Signature: proxy_sig=:S6ZzPXSdAMOPjN/6KXfXWNO/f7V6cHm7BXYUh3YD/fRad4BCaRZxP+\
                    JH+8XY1I6+8Cy+CM5g92iHgxtRPz+MjniOaYmdkDcnL9cCpXJleXsOckpURl49G\
                    wiyUpZ10KHgOEe11sx3G2gxI8S0jnxQB+Pu68U9vVcasqOWAEObtNKKZd8tSFu7\
                    LB5YAv0RAGhB8tmpv7sFnIm9y+7X5kXQfi8NMaZaA8i2ZHwpBdg7a6CMfwnnrtf\
                    lzvZdXAsD3LH2TwevU+/PBPv0B6NMNk93wUs/vfJvye+YuI87HU38lZHowtznbL\
                    Vdp770I6VHR6WfgS9ddzirrswsE1w5o0LV/g==:
                """#, isDeterministic: true),
        SignatureExample(
            testDescription: "B.3", key: "test-key-ecc-p256",
            message: ExampleTexts.request.replacing(
                "Host: example.com", with: "Host: service.internal.example\nClient-Cert: \(clientCertificate)"),
            base: #"""
                "@path": /foo
                "@query": ?param=Value&Pet=dog
                "@method": POST
                "@authority": service.internal.example
                "client-cert": \#(clientCertificate)
                "@signature-params": ("@path" "@query" "@method" "@authority" \
                  "client-cert");created=1618884473;keyid="test-key-ecc-p256"
                """#,
            fields: #"""
                Signature-Input: ttrp=("@path" "@query" "@method" "@authority" \
                  "client-cert");created=1618884473;keyid="test-key-ecc-p256"
                Signature: ttrp=:xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6\
                  Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==:
                """#),
    ]

    private static let clientCertificate = unwrapped(
        #"""
        :MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKD\
          BJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVkaWF0ZSBDQT\
          AeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFk\
          wEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE8YnXXfaUgmnMtOXU/IncWalRhebrXmck\
          C8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDV\
          R0TBAIwADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf\
          8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQH/BBMwEYEPYmRjQGV\
          4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6\
          bMjeSkC3dFCOOB8TAiEAx/kHSB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:
        """#)
}
