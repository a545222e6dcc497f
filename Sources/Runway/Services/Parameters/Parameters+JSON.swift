import Foundation
import RunwayJSON

extension Parameters {
    /// Returns the parameters as a JSON object with names in code point order. Equal parameters result in equal bytes.
    ///
    /// - Throws: ``UnencodableParameter`` for the first value that can't be encoded.
    package func json(dates: DateStyle) throws(UnencodableParameter) -> [UInt8] {
        var writer = JSONWriter(sortsKeys: true)
        try write(dates, at: "", depth: 0, to: &writer)
        return writer.bytes
    }

    private func write(
        _ dates: DateStyle, at path: String, depth: Int, to writer: inout JSONWriter
    ) throws(UnencodableParameter) {
        writer.beginObject()
        for entry in entries {
            writer.name(entry.name)
            let inner = path.isEmpty ? entry.name : "\(path).\(entry.name)"
            try Self.write(entry.value, dates, at: inner, depth: depth, to: &writer)
        }
        writer.endObject()
    }

    fileprivate static func write(
        _ value: ParameterValue, _ dates: DateStyle, at path: String, depth: Int, to writer: inout JSONWriter
    ) throws(UnencodableParameter) {
        guard depth <= UnencodableParameter.maximumDepth else { throw .tooDeep(path) }
        switch value {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .integer(let value): writer.integer(value)
        case .unsigned(let value): writer.integer(value)
        case .double(let value): try write(value, at: path, to: &writer)
        case .decimal(let value):
            guard !value.isNaN else { throw .notFinite(path) }
            // The digits of a decimal should form a JSON number. Parsing them as a document verifies this.
            guard let number = try? JSONDocument("\(value)").root else { throw .notFinite(path) }
            writer.value(number)
        case .string(let value): writer.string(value)
        case .date(let value):
            let seconds = try DateStyle.seconds(of: value, at: path)
            switch dates {
            case .iso8601: writer.string(try dates.text(value, at: path))
            case .secondsSince1970: try write(seconds, at: path, to: &writer)
            case .millisecondsSince1970: try write((seconds * 1000).rounded(), at: path, to: &writer)
            }
        case .bytes(let value): writer.string(Data(value).base64EncodedString())
        case .array(let elements):
            writer.beginArray()
            for (index, element) in elements.enumerated() {
                try write(element, dates, at: "\(path)[\(index)]", depth: depth + 1, to: &writer)
            }
            writer.endArray()
        case .object(let members): try members.write(dates, at: path, depth: depth + 1, to: &writer)
        }
    }

    private static func write(
        _ value: Double, at path: String, to writer: inout JSONWriter
    ) throws(UnencodableParameter) {
        do { try writer.double(value) } catch { throw .notFinite(path) }
    }
}

extension ParameterValue {
    /// The value as JSON, by which unordered values are sorted. Empty if the value can't be encoded; a call with such a
    /// value fails anyway.
    var canonicalBytes: [UInt8] {
        var writer = JSONWriter(sortsKeys: true)
        // This date style preserves the fraction of a second.
        do { try Parameters.write(self, .secondsSince1970, at: "", depth: 0, to: &writer) } catch { return [] }
        return writer.bytes
    }
}
