import Foundation
import HTTPTypes
import RunwayFormats
import RunwayJSON

/// The responses as they are sent: `{"responses":[{"id","status","headers","body"}]}`, in the order of the requests.
enum EnvelopeResponse {
    static func body(of responses: [(id: String, response: MergedResponse)]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("responses")
        writer.beginArray()
        for (id, response) in responses {
            writer.beginObject()
            writer.name("id")
            writer.string(id)
            writer.name("status")
            writer.integer(response.status.code)
            writer.name("headers")
            writer.beginArray()
            for field in response.headers
            where !field.name.isHopByHop && field.name != .contentLength {
                writer.beginArray()
                writer.string(field.name.rawName)
                writer.string(field.value)
                writer.endArray()
            }
            writer.endArray()
            if !response.body.isEmpty {
                if let text = String(validating: response.body, as: UTF8.self) {
                    writer.name("body")
                    writer.string(text)
                } else {
                    writer.name("bodyBase64")
                    writer.string(Data(response.body).base64EncodedString())
                }
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Returns `{"error":{"message":…}}`, the form of the framework's own errors.
    static func errorBody(_ message: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("message")
        writer.string(message)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
