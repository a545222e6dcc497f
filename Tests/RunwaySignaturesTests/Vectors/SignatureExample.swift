import HTTPTypes
import Testing

@testable import RunwaySignatures

/// A signed message of RFC 9421: its base, and its two fields.
struct SignatureExample: CustomTestStringConvertible {
    let testDescription: String
    let key: String
    /// The message without its signature.
    let message: String
    /// The request that a signed response belongs to.
    var request: String?
    let base: String
    let fields: String
    /// Whether signing again gives the same bytes.
    var isDeterministic = false

    var context: SignatureContext {
        get throws {
            let text = try RunwaySignaturesTests.message(message)
            if let request = text.request() { return SignatureContext(request) }
            return SignatureContext(
                try #require(text.response), to: try RunwaySignaturesTests.request(request ?? ExampleTexts.request))
        }
    }

    /// The signature of the fields.
    var signature: LabelledSignature {
        get throws {
            let signatures = try RunwaySignaturesTests.message("GET / HTTP/1.1\n" + fields).headerFields.signatures()
            return try #require(signatures.first)
        }
    }

    static let all: [SignatureExample] = requests + responses + proxies
}

extension SignatureExample {
    static let requests = [
        SignatureExample(
            testDescription: "§3.2", key: "test-key-rsa-pss", message: ExampleTexts.request,
            base: #"""
                "@method": POST
                "@authority": example.com
                "@path": /foo
                "content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX\
                  +TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "content-length": 18
                "content-type": application/json
                "@signature-params": ("@method" "@authority" "@path" \
                  "content-digest" "content-length" "content-type")\
                  ;created=1618884473;keyid="test-key-rsa-pss"
                """#,
            fields: #"""
                Signature-Input: sig1=("@method" "@authority" "@path" \
                  "content-digest" "content-length" "content-type")\
                  ;created=1618884473;keyid="test-key-rsa-pss"
                Signature: sig1=:HIbjHC5rS0BYaa9v4QfD4193TORw7u9edguPh0AW3dMq9WImrl\
                  FrCGUDih47vAxi4L2YRZ3XMJc1uOKk/J0ZmZ+wcta4nKIgBkKq0rM9hs3CQyxXGxH\
                  LMCy8uqK488o+9jrptQ+xFPHK7a9sRL1IXNaagCNN3ZxJsYapFj+JXbmaI5rtAdSf\
                  SvzPuBCh+ARHBmWuNo1UzVVdHXrl8ePL4cccqlazIJdC4QEjrF+Sn4IxBQzTZsL9y\
                  9TP5FsZYzHvDqbInkTNigBcE9cKOYNFCn4D/WM7F6TNuZO9EgtzepLWcjTymlHzK7\
                  aXq6Am6sfOrpIC49yXjj3ae6HRalVc/g==:
                """#),
        SignatureExample(
            testDescription: "B.2.1", key: "test-key-rsa-pss", message: ExampleTexts.request,
            base: #"""
                "@signature-params": ();created=1618884473;keyid="test-key-rsa-pss"\
                  ;nonce="b3k2pp5k7z-50gnwp.yemd"
                """#,
            fields: #"""
                Signature-Input: sig-b21=();created=1618884473\
                  ;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"
                Signature: sig-b21=:d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopem\
                  LJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtRxf8Udx7zFZsckzXaJMkA7ChG\
                  52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx\
                  2VjBqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6\
                  UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3\
                  +7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==:
                """#),
        SignatureExample(
            testDescription: "B.2.2", key: "test-key-rsa-pss", message: ExampleTexts.request,
            base: #"""
                "@authority": example.com
                "content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX\
                  +TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "@query-param";name="Pet": dog
                "@signature-params": ("@authority" "content-digest" \
                  "@query-param";name="Pet")\
                  ;created=1618884473;keyid="test-key-rsa-pss"\
                  ;tag="header-example"
                """#,
            fields: #"""
                Signature-Input: sig-b22=("@authority" "content-digest" \
                  "@query-param";name="Pet");created=1618884473\
                  ;keyid="test-key-rsa-pss";tag="header-example"
                Signature: sig-b22=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQ\
                  EdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT\
                  8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SA\
                  RYhpTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd\
                  4je2U/lankenQ99PZfB4jY3I5rSV2DSBVkSFsURIjYErOs0tFTQosMTAoxk//0RoK\
                  UqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==:
                """#),
        SignatureExample(
            testDescription: "B.2.3", key: "test-key-rsa-pss", message: ExampleTexts.request,
            base: #"""
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@method": POST
                "@path": /foo
                "@query": ?param=Value&Pet=dog
                "@authority": example.com
                "content-type": application/json
                "content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX\
                  +TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
                "content-length": 18
                "@signature-params": ("date" "@method" "@path" "@query" \
                  "@authority" "content-type" "content-digest" "content-length")\
                  ;created=1618884473;keyid="test-key-rsa-pss"
                """#,
            fields: #"""
                Signature-Input: sig-b23=("date" "@method" "@path" "@query" \
                  "@authority" "content-type" "content-digest" "content-length")\
                  ;created=1618884473;keyid="test-key-rsa-pss"
                Signature: sig-b23=:bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yB\
                  iMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRpRRU5p2voTp768ZrCUb38K0fU\
                  xN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1\
                  pFkh/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9\
                  bpG6A9BmzhuzF8Eim5f8ui9eH8LZH896+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5Z\
                  JzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==:
                """#),
        SignatureExample(
            testDescription: "B.2.5", key: "test-shared-secret", message: ExampleTexts.request,
            base: #"""
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@authority": example.com
                "content-type": application/json
                "@signature-params": ("date" "@authority" "content-type")\
                  ;created=1618884473;keyid="test-shared-secret"
                """#,
            fields: #"""
                Signature-Input: sig-b25=("date" "@authority" "content-type")\
                  ;created=1618884473;keyid="test-shared-secret"
                Signature: sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:
                """#, isDeterministic: true),
        SignatureExample(
            testDescription: "B.2.6", key: "test-key-ed25519", message: ExampleTexts.request,
            base: #"""
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@method": POST
                "@path": /foo
                "@authority": example.com
                "content-type": application/json
                "content-length": 18
                "@signature-params": ("date" "@method" "@path" "@authority" \
                  "content-type" "content-length");created=1618884473\
                  ;keyid="test-key-ed25519"
                """#,
            fields: #"""
                Signature-Input: sig-b26=("date" "@method" "@path" "@authority" \
                  "content-type" "content-length");created=1618884473\
                  ;keyid="test-key-ed25519"
                Signature: sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1\
                  u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:
                """#, isDeterministic: true),
    ]
}
