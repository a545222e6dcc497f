import Foundation
import HTTPTypes
import Runway
import RunwayStreams

/// The stream or WebSocket that the command line names.
struct ListenRequest: EventStreamEndpoint {
    static let service = CalledServer.self
    static let name = "listen"

    let path: Runway.EndpointPath
    let parameters: Parameters
    let headers: [String: String]
    let topics: Set<String>?

    /// - Throws: ``CommandFailure`` if an item belongs to a body, since the request has no body.
    init(_ target: CallTarget, _ items: [String], topics: Set<String>?) throws(CommandFailure) {
        let parts = target.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = Runway.EndpointPath(stringLiteral: String(parts[0]))
        var parameters = Parameters()
        for pair in parts.dropFirst().flatMap({ $0.split(separator: "&") }) {
            let words = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { word in
                let spaced = String(word.replacing("+", with: " "))
                return spaced.removingPercentEncoding ?? spaced
            }
            parameters.append(words[0], .string(words.count > 1 ? words[1] : ""))
        }
        var headers: [String: String] = [:]
        for item in items {
            switch try RequestItem(item) {
            case .query(let name, let value): parameters.append(name, .string(value))
            case .header(let field): headers[field.name.rawName] = field.value
            default:
                throw CommandFailure(
                    "The item \"\(item)\" makes a body; runway listen sends name==value and name:value.")
            }
        }
        (self.parameters, self.headers, self.topics) = (parameters, headers, topics)
    }

    func encode(to encoder: any Encoder) {}
}
