import HTTPTypes
import Runway

/// What became of an exchange, as far as two transports must agree.
enum ExchangeOutcome: Equatable {
    /// The head came, and this much of the body; `isWhole` where it ended as it should.
    case received(status: Int, fields: [String], body: [UInt8], isWhole: Bool)
    /// No response: the connection or what came over it was no good.
    case broken
    /// No response, for another reason.
    case failed(String)

    /// Makes the exchange over a layer, and reads all of its response.
    init(_ request: Request, over network: NetworkLayer, ignoring ignored: Set<HTTPField.Name> = []) async {
        do throws(NetworkError) {
            let response = try await network.exchange(request, with: TestService.self)
            let fields = response.head.headerFields.filter { !ignored.contains($0.name) }
                .map { "\($0.name.canonicalName): \($0.value)" }
            var bytes: [UInt8] = []
            var isWhole = true
            switch response.body {
            case .whole(let rawData): bytes = rawData.bytes
            case .stream(let stream):
                do {
                    for try await part in stream { bytes += part }
                } catch {
                    // How much of a torn body is seen is a matter of time.
                    (bytes, isWhole) = ([], false)
                }
            }
            self = .received(status: response.head.status.code, fields: fields, body: bytes, isWhole: isWhole)
        } catch {
            switch error.kind {
            // A connection that ends within a response is the one or the other.
            case .noNetwork, .invalidResponse: self = .broken
            default: self = .failed("\(error.kind)")
            }
        }
    }
}

extension ExchangeOutcome {
    /// Whether a head came, and all of the body.
    var isResponse: Bool { if case .received(_, _, _, isWhole: true) = self { true } else { false } }
}

extension ExchangeOutcome: CustomStringConvertible {
    var description: String {
        switch self {
        case .received(let status, let fields, let body, let isWhole):
            "\(status) \(fields), \(isWhole ? "all" : "torn after") \(body.count) bytes, "
                + "hash \(body.reduce(0) { $0 &* 31 &+ Int($1) })"
        case .broken: "broken"
        case .failed(let kind): "failed: \(kind)"
        }
    }
}
