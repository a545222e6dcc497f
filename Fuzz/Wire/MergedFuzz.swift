import HTTPTypes

@testable import Runway

/// Responses to merged requests.
enum MergedFuzz {
    private static let bounds = [1000, 10, 1 << 20]

    static func run(_ input: FuzzInput) {
        let head = HTTPResponse(status: .ok, headerFields: [.date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        guard let merged = try? MergeResponse(input.bytes, head: head, within: bounds) else { return }
        check(merged.results.count == bounds.count, "another number of responses")
        check(merged.unknownCount <= input.bytes.count, "more responses than received")
        for (result, bound) in zip(merged.results, bounds) {
            switch result {
            case .success(let response): checkResponse(response, upTo: bound)
            case .failure(let error):
                check(error.kind == .invalidResponse && error.detail.utf8.count < 2000, "an error that is not clear")
            }
        }
    }

    private static func checkResponse(_ response: Response, upTo bound: Int) {
        check((200...599).contains(response.head.status.code), "a status that is none")
        guard case .whole(let raw) = response.body else { preconditionFailure("a body that is not whole") }
        check(raw.bytes.count <= bound, "a body larger than may be")
        let fields = response.head.headerFields
        check(fields == fields.endToEnd, "a field of a connection")
        check(fields.allSatisfy { HTTPField.isValidValue($0.value) }, "a value that is none")
    }
}
