import HTTPTypes
import Runway
import Testing

@testable import RunwayServer

/// The server does not depend on the client's package, so that each has a list of hop-by-hop fields.
struct HopByHopTests {
    @Test(arguments: [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-status", "via",
        "content-length",
        "authorization", "cookie", "expect", "host", "x-own",
    ])
    func bothListsAgree(_ text: String) throws {
        let name = try #require(HTTPField.Name(text))
        #expect(name.belongsToConnection == name.isHopByHop)
    }
}
