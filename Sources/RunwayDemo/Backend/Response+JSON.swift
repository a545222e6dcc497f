#if Command
    import Foundation
    import HTTPTypes
    import HummingbirdCore
    import NIOCore

    extension Response {
        /// A response of `application/json; charset=utf-8` whose keys are sorted, so that equal values produce equal
        /// bytes.
        static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return json(bytes: ByteBuffer(bytes: try encoder.encode(value)), status: status)
        }

        /// A response that is declared to be JSON, whatever `bytes` are.
        static func json(bytes: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
            Response(
                status: status,
                headers: [.contentType: "application/json; charset=utf-8"],
                body: ResponseBody(byteBuffer: bytes))
        }
    }
#endif
