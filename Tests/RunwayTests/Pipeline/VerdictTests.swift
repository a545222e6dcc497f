import HTTPTypes
import Runway
import Testing

struct VerdictTests {
    private func verdict(_ code: Int, retryAfter: String? = nil) -> Verdict {
        var fields = HTTPFields()
        fields[.retryAfter] = retryAfter
        return Verdict(status: HTTPResponse.Status(code: code), headerFields: fields)
    }

    @Test func statusAloneHasAVerdictForEveryCode() {
        for code in 200..<300 { #expect(verdict(code) == .fine) }
        for code in 300..<400 { #expect(verdict(code) == (code == 304 ? .fine : .redirected)) }
        for code in 400..<600 {
            let expected: Verdict =
                switch code {
                case 401: .tokenRefused
                case 429, 503: .overloaded(retryAfter: nil)
                default: .refused
                }
            #expect(verdict(code) == expected)
        }
        for code in [100, 103, 199, 600, 999] { #expect(verdict(code) == .refused) }
    }

    @Test(arguments: [
        ("0", Duration.seconds(0)), ("120", .seconds(120)), ("2147483647", .seconds(2_147_483_647)),
        ("2147483648", nil), ("9223372036854775807", nil), ("99999999999999999999999", nil), ("-1", nil), ("1.5", nil),
        ("", nil), ("soon", nil), ("Fri, 31 Dec 1999 23:59:59 GMT", nil), ("12 s", nil), ("0x10", nil),
    ])
    func retryAfterIsCountedWithinTheClocksRange(_ text: String, _ wait: Duration?) {
        #expect(verdict(429, retryAfter: text) == .overloaded(retryAfter: wait))
        #expect(verdict(503, retryAfter: text) == .overloaded(retryAfter: wait))
    }

    @Test func retryAfterOfAnotherStatusIsIgnored() {
        #expect(verdict(500, retryAfter: "5") == .refused)
        #expect(verdict(200, retryAfter: "5") == .fine)
    }
}
