import HTTPTypes
import RunwayFormats
import RunwayJSON

/// Encodes the responses as `{"responses":[{"id","status","headers","body"}]}`, in the order of the requests.
enum EnvelopeResponse {
    static func body(of responses: [(id: String, response: MergedResponse)]) -> [UInt8] {
        EnvelopeItem.envelope("responses", of: responses) { writer, item in
            writer.member("id", item.id)
            writer.member("status", item.response.status.code)
            let fields = item.response.headers.filter { !$0.name.isHopByHop && $0.name != .contentLength }
            writer.item(fields, item.response.body)
        }
    }

    /// Returns `{"error":{"message":…}}`, the format of Hummingbird's own errors.
    static func errorBody(_ message: String) -> [UInt8] {
        JSONWriter.object { writer in
            writer.name("error")
            writer.object { $0.member("message", message) }
        }
    }
}
