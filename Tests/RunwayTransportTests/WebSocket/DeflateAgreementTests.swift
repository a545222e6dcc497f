import Runway
import Testing

@testable import RunwayTransport

struct DeflateAgreementTests {
    private static func offer(_ change: (inout WebSocketOffer.Deflate) -> Void = { _ in }) -> WebSocketOffer.Deflate {
        var offer = WebSocketOffer.Deflate()
        change(&offer)
        return offer
    }

    @Test func offersWhatTheOptionsSay() {
        #expect(DeflateAgreement.text(of: Self.offer()) == "permessage-deflate; client_max_window_bits")
        let demanding = Self.offer {
            $0.resetsServerContext = true
            $0.resetsClientContext = true
            $0.serverWindowBits = 10
        }
        #expect(
            DeflateAgreement.text(of: demanding)
                == "permessage-deflate; client_max_window_bits; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=10")
    }

    @Test func readsWhatTheServerAccepts() throws {
        let agreement = try DeflateAgreement.accepted(
            ["permessage-deflate; Server_No_Context_Takeover;client_max_window_bits=\"12\" ; server_max_window_bits=9"],
            of: Self.offer())
        #expect(
            agreement
                == DeflateAgreement(
                    resetsServerContext: true, resetsClientContext: false, serverWindowBits: 9, clientWindowBits: 12))
        #expect(try DeflateAgreement.accepted([], of: Self.offer()) == nil)
        #expect(try DeflateAgreement.accepted([""], of: Self.offer()) == nil)
    }

    @Test(arguments: [
        "permessage-deflate; server_max_window_bits", "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=08",
        "permessage-deflate; client_max_window_bits", "permessage-deflate; client_max_window_bits=+9",
        "permessage-deflate; server_no_context_takeover=1", "permessage-deflate; unknown",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-deflate, permessage-deflate", "permessage-bzip2", "permessage-deflate;", "permessage deflate",
        "permessage-deflate; server_max_window_bits=\"1", ";",
    ])
    func refusesWhatWasNotOfferedOrIsInvalid(_ field: String) {
        #expect(throws: WebSocketProblem.self) { try DeflateAgreement.accepted([field], of: Self.offer()) }
    }

    @Test func refusesAnythingWithoutAnOffer() {
        #expect(throws: WebSocketProblem.self) { try DeflateAgreement.accepted(["permessage-deflate"], of: nil) }
    }

    @Test func refusesServerThatIgnoresDemands() {
        let demanding = Self.offer { $0.resetsServerContext = true }
        #expect(throws: WebSocketProblem.self) { try DeflateAgreement.accepted(["permessage-deflate"], of: demanding) }
        let small = Self.offer { $0.serverWindowBits = 10 }
        for field in ["permessage-deflate", "permessage-deflate; server_max_window_bits=11"] {
            #expect(throws: WebSocketProblem.self) { try DeflateAgreement.accepted([field], of: small) }
        }
    }
}
