import HTTPTypes
import Testing

@testable import Runway

/// Which fields go further than one hop.
struct EndToEndFieldsTests {
    private func fields(_ pairs: KeyValuePairs<String, String>) throws -> HTTPFields {
        HTTPFields(try pairs.map { HTTPField(name: try #require(HTTPField.Name($0.key)), value: $0.value) })
    }

    @Test(arguments: [
        "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
    ])
    func aFieldOfOneHopStays(name: String) throws {
        #expect(try fields([name.uppercased(): "x", "Date": "d"]).endToEnd.map(\.name.canonicalName) == ["date"])
    }

    @Test func endToEndFieldsNamedByConnectionStay() throws {
        let sent = try fields([
            "X-A": "1", "Connection": " x-a ,, X-B", "X-B": "2", "x-c": "3", "Connection": "X-D", "X-D": "4",
        ])
        #expect(sent.endToEnd == (try fields(["x-c": "3"])))
    }

    @Test(arguments: ["Content-Length", "Via", "Max-Forwards"])
    func connectionTakesNoFieldOfEveryRecipientAway(name: String) throws {
        let sent = try fields(["Connection": "\(name.lowercased()), X-A", name: "5", "X-A": "1"])
        #expect(sent.endToEnd == (try fields([name: "5"])))
    }

    @Test func repeatedFieldsStayApartAndInOrder() throws {
        let sent = try fields(["Set-Cookie": "a", "Proxy-Status": "p", "Set-Cookie": "b", "set-cookie": "c"])
        #expect(sent.endToEnd == sent)
    }
}
