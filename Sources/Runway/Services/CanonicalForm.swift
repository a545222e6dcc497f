import Foundation
import HTTPTypes

/// Bytes that represent the added values. They are equal exactly if the values are equal. They are the same in every
/// launch of the app.
///
/// Texts are compared by their UTF-8 bytes, because these are sent; Swift treats the two encodings of "é" as equal. The
/// order of names does not matter, but the order of values with the same name matters.
struct CanonicalForm {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add($0) }
    }

    mutating func add(_ part: some Collection<UInt8>) {
        add(count: part.count)
        bytes.append(contentsOf: part)
    }

    /// Adds parameters, sorted by name.
    mutating func add(_ parameters: Parameters) { add(parameters, depth: 0) }

    mutating func add(_ style: QueryStyle) {
        let arrays: UInt8 =
            switch style.arrays {
            case .repeated: 0
            case .brackets: 1
            case .indices: 2
            case .commas: 3
            }
        // One call, because every cache hit runs this code.
        let codes = (arrays, style.writesDots, style.writesDigits, style.writesNulls)
        withUnsafeBytes(of: codes) { bytes.append(contentsOf: $0) }
        add(style.dates)
    }

    mutating func add(_ dates: DateStyle) {
        let code: UInt8 =
            switch dates {
            case .iso8601: 0
            case .secondsSince1970: 1
            case .millisecondsSince1970: 2
            }
        bytes.append(code)
    }

    /// Adds header fields by their names as passed. Case matters here: if two names differ only in case, their order
    /// decides which field is sent.
    mutating func add(_ headers: [String: String]) {
        add(headers.map { (name: $0.key, value: $0.value) })
    }

    /// Adds the header fields of a message. The case of their names does not matter.
    mutating func add(_ fields: HTTPFields) {
        add(fields.map { (name: $0.name.canonicalName, value: $0.value) })
    }

    private mutating func add(_ fields: [(name: String, value: String)]) {
        add(count: fields.count)
        for field in fields.sorted(by: { $0.name < $1.name }) {
            add(field.name)
            add(field.value)
        }
    }

    private mutating func add(count: Int) {
        if count < 255 { return bytes.append(UInt8(count)) }
        bytes.append(255)
        add(UInt64(count))
    }

    private mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func add(_ parameters: Parameters, depth: Int) {
        let entries = parameters.entries
        add(count: entries.count)
        if entries.count > 16 {
            // Swift's sort is stable, so entries with equal names stay in order.
            for entry in entries.sorted(by: { $0.name < $1.name }) {
                add(entry.name)
                add(entry.value, depth: depth)
            }
            return
        }
        // Every cache hit runs this code, and calls have few parameters. Sorting their indices in place allocates
        // nothing.
        withUnsafeTemporaryAllocation(of: Int.self, capacity: entries.count) { places in
            for index in entries.indices {
                var place = index
                while place > 0, entries[index].name < entries[places[place - 1]].name {
                    places.initializeElement(at: place, to: places[place - 1])
                    place -= 1
                }
                places.initializeElement(at: place, to: index)
            }
            for place in places {
                add(entries[place].name)
                add(entries[place].value, depth: depth)
            }
        }
    }

    /// Adds the kind of a value, followed by the value. Requests with values nested deeper than
    /// ``UnencodableParameter/maximumDepth`` can't be built.
    private mutating func add(_ value: ParameterValue, depth: Int) {
        guard depth <= UnencodableParameter.maximumDepth else { return }
        switch value {
        case .null: bytes.append(0)
        case .bool(let value): bytes.append(value ? 2 : 1)
        case .integer(let value):
            bytes.append(3)
            add(UInt64(bitPattern: value))
        case .unsigned(let value):
            bytes.append(4)
            add(value)
        case .double(let value):
            bytes.append(5)
            add(value.bitPattern)
        case .decimal(let value):
            bytes.append(6)
            add("\(value)")
        case .string(let value):
            bytes.append(7)
            add(value)
        case .date(let value):
            bytes.append(8)
            add(value.timeIntervalSinceReferenceDate.bitPattern)
        case .bytes(let value):
            bytes.append(9)
            add(value)
        case .array(let elements):
            bytes.append(10)
            add(count: elements.count)
            for element in elements { add(element, depth: depth + 1) }
        case .object(let members):
            bytes.append(11)
            add(members, depth: depth + 1)
        }
    }
}
