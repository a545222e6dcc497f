public import struct Foundation.Date
public import struct Foundation.Decimal

/// The named values of one call, in order.
///
/// A name may occur more than once; encodings preserve that. An endpoint has the parameters of its properties; code
/// that decides on parameters itself writes them so:
///
/// ```swift
/// var parameters: Parameters = ["city": "上海", "tag": "garden"]
/// parameters.append("tag", "lift")
/// parameters["page"] = 2
/// for (name, value) in parameters { print(name, value) }
/// ```
///
/// In a literal, a variable is interpolated, `["page": "\(page)"]`, and sent as text, or it is a ``ParameterValue`` of
/// its kind, `["page": .integer(Int64(page))]`, which JSON has as a number.
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence {
    /// One name and its value.
    package struct Entry: Sendable, Hashable {
        /// The name, unescaped.
        package var name: String
        /// The value.
        package var value: ParameterValue

        package init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// Names and values in the order in which they were added.
    package var entries: [Entry]

    /// No parameters.
    public init() { entries = [] }

    /// Parameters with these names and values, in their order.
    public init(_ pairs: some Sequence<(String, ParameterValue)>) { entries = pairs.map { Entry($0.0, $0.1) } }

    package init(_ entries: [Entry]) { self.entries = entries }

    /// Creates parameters with the names and values of a literal, in its order.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        entries = elements.map { Entry($0.0, $0.1) }
    }

    /// Adds a value after all others, whether or not its name occurs already.
    public mutating func append(_ name: String, _ value: ParameterValue) { entries.append(Entry(name, value)) }

    /// Iterates over the names, unescaped, and their values, in the order in which they were added.
    public func makeIterator() -> AnyIterator<(name: String, value: ParameterValue)> {
        AnyIterator(entries.lazy.map { ($0.name, $0.value) }.makeIterator())
    }

    /// Whether there are no parameters.
    public var isEmpty: Bool { entries.isEmpty }

    /// The first value with a name. Setting it replaces every entry of that name, `nil` removes them.
    public subscript(name: String) -> ParameterValue? {
        get { entries.first { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name } ?? entries.endIndex
            entries.removeAll { $0.name == name }
            if let newValue { entries.insert(Entry(name, newValue), at: Swift.min(index, entries.endIndex)) }
        }
    }

    /// Returns these parameters, preceded by those in `defaults` with other names.
    public func merging(defaults: Parameters) -> Parameters {
        if defaults.isEmpty { return self }
        let names = Set(entries.map(\.name))
        return Parameters(defaults.entries.filter { !names.contains($0.name) } + entries)
    }
}

/// The value of one parameter.
public enum ParameterValue: Sendable, Hashable {
    /// An explicit null.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number past `Int64.max`.
    case unsigned(UInt64)
    /// A number. One that is not finite can't be sent: the call fails as ``NetworkError/Kind/invalidParameters``.
    case double(Double)
    /// A decimal number, exact.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A date and time of day.
    case date(Date)
    /// Bytes; they are sent as Base64 (RFC 4648 §4).
    case bytes([UInt8])
    /// Several values.
    case array([ParameterValue])
    /// Named values.
    case object(Parameters)
}

extension ParameterValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text, also with interpolated values.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An explicit null.
    public init(nilLiteral: ()) { self = .null }
    /// Several values.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Named values.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Parameters(elements))
    }
}
