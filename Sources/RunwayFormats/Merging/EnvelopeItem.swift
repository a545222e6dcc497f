import Foundation
package import HTTPTypes
package import RunwayJSON

/// The members that requests and responses have in common when several are merged into one: `id`, `headers` and `body`.
///
/// A body that is not UTF-8 is in Base64, in `bodyBase64` instead of `body`.
package enum EnvelopeItem {
    /// The maximum number of JSON values in a merged message: enough for hundreds of header fields per item.
    package static let maximumValueCount = 200_000

    /// Encodes an envelope: an object with one array. `write` writes each element.
    package static func envelope<Items: Sequence>(
        _ name: String, of items: Items, _ write: (inout JSONWriter, Items.Element) -> Void
    ) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member(name, items) { writer, item in writer.object { write(&$0, item) } }
        }
    }

    /// Decodes the header fields of an item, in their order. Returns `nil` if they are malformed.
    package static func headers(_ item: JSONValue) -> HTTPFields? {
        guard [.array, .missing].contains(item["headers"].kind) else { return nil }
        var fields = HTTPFields()
        for pair in item["headers"].elements {
            guard pair.count == 2, let name = pair[0].string.flatMap({ HTTPField.Name($0) }),
                let value = pair[1].string, HTTPField.isValidValue(value)
            else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    /// Decodes the body of an item. Returns an empty body if the item has none, and `nil` if the body is malformed.
    package static func body(_ item: JSONValue) -> [UInt8]? {
        let (body, base64) = (item["body"], item["bodyBase64"])
        switch (body.kind, base64.kind) {
        case (.missing, .missing), (.null, .missing): return []
        case (.string, .missing): return body.string.map { Array($0.utf8) }
        case (.missing, .string): return base64.string.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
        default: return nil
        }
    }
}

extension JSONWriter {
    /// Writes the header fields of an item, each as a pair of name and value. Also writes its body unless it is empty.
    package mutating func item(_ fields: some Sequence<HTTPField>, _ body: [UInt8]) {
        member("headers", fields) { writer, field in
            writer.beginArray()
            writer.string(field.name.rawName)
            writer.string(field.value)
            writer.endArray()
        }
        if body.isEmpty { return }
        if let text = String(validating: body, as: UTF8.self) {
            member("body", text)
        } else {
            member("bodyBase64", Data(body).base64EncodedString())
        }
    }
}
