public import struct Foundation.Date
public import struct Foundation.Decimal

/// The named values of one call, in order.
///
/// A name may occur more than once, and encodings preserve this. Normally the properties of an endpoint become its
/// parameters. Code can also create parameters directly:
///
/// ```swift
/// var parameters: Parameters = ["city": "上海", "tag": "garden"]
/// parameters.append("tag", "lift")
/// parameters["page"] = 2
/// for (name, value) in parameters { print(name, value) }
/// ```
///
/// To use a variable in a literal, interpolate it, `["page": "\(page)"]`, so that it is sent as text. Or create a
/// ``ParameterValue`` of its kind, `["page": .integer(Int64(page))]`, so that JSON contains a number.
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence {
    package struct Entry: Sendable, Hashable {
        package var name: String
        package var value: ParameterValue

        package init(_ name: String, _ value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// The names and values in the order in which they were added.
    package var entries: [Entry]

    /// Creates an empty list of parameters.
    public init() { entries = [] }

    /// Creates parameters with these names and values, in this order.
    public init(_ pairs: some Sequence<(String, ParameterValue)>) { entries = pairs.map { Entry($0.0, $0.1) } }

    package init(_ entries: [Entry]) { self.entries = entries }

    /// Creates parameters with the names and values of a literal, in its order.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        entries = elements.map { Entry($0.0, $0.1) }
    }

    /// Appends a value, even if its name already occurs.
    public mutating func append(_ name: String, _ value: ParameterValue) { entries.append(Entry(name, value)) }

    /// Iterates over the unescaped names and their values, in the order in which they were added.
    public func makeIterator() -> AnyIterator<(name: String, value: ParameterValue)> {
        AnyIterator(entries.lazy.map { ($0.name, $0.value) }.makeIterator())
    }

    /// Whether there are no parameters.
    public var isEmpty: Bool { entries.isEmpty }

    /// The first value with a name; `nil` if no value has the name. Setting a value replaces all entries with that
    /// name; setting `nil` removes these entries.
    public subscript(name: String) -> ParameterValue? {
        get { entries.first { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name } ?? entries.endIndex
            entries.removeAll { $0.name == name }
            if let newValue { entries.insert(Entry(name, newValue), at: Swift.min(index, entries.endIndex)) }
        }
    }

    /// Returns these parameters, preceded by the parameters of `defaults` whose names do not occur in these parameters.
    public func merging(defaults: Parameters) -> Parameters {
        if defaults.isEmpty { return self }
        let names = Set(entries.map(\.name))
        return Parameters(defaults.entries.filter { !names.contains($0.name) } + entries)
    }
}

/// The value of one parameter.
public enum ParameterValue: Sendable, Hashable {
    /// An explicit null, unlike an absent parameter.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// An integer greater than `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number. It must be finite; otherwise the call fails as ``NetworkError/Kind/invalidParameters``.
    case double(Double)
    /// An exact decimal number.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// A date and time of day.
    case date(Date)
    /// Bytes, which are sent as Base64 (RFC 4648 §4).
    case bytes([UInt8])
    /// An array of values.
    case array([ParameterValue])
    /// An object, which contains names with values.
    case object(Parameters)
}

extension ParameterValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text, which may contain interpolated values.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer from a literal.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a floating-point number from a literal.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a Boolean from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an explicit null, unlike an absent parameter.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an array from a literal.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }
    /// Creates an object with the names and values of a literal.
    public init(dictionaryLiteral elements: (String, ParameterValue)...) {
        self = .object(Parameters(elements))
    }
}
