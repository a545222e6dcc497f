/// The part of the request in which the parameters of a call are encoded, and their format.
///
/// ```swift
/// struct Booking: Endpoint {
///     static let service = Listings.self
///     static let method = HTTPRequest.Method.post
///     static let encoding = ParameterEncoding.json(dates: .secondsSince1970)
///
///     var path: EndpointPath { "bookings" }
///     var home: Int
///     var day: Date
/// }
/// ```
public enum ParameterEncoding: Sendable, Hashable {
    /// Into the query of the URL (RFC 3986 §3.4).
    case query(QueryStyle = .default)
    /// The body, as a form (`application/x-www-form-urlencoded`).
    case form(QueryStyle = .default)
    /// The body, as a JSON object whose names are in code point order (RFC 8259).
    ///
    /// Arrays, objects, Booleans and nulls are JSON's own; dates are written in the style `dates`, bytes as Base64.
    case json(dates: DateStyle = .iso8601)
    /// The body is ``Endpoint/content``, with this media type; parameters go into the query.
    case raw(contentType: String)
    /// The body, as a form with files (`multipart/form-data`, RFC 7578): the parameters as fields, then
    /// ``Endpoint/parts``.
    ///
    /// Names and values are written in the given `QueryStyle`, unescaped.
    case multipart(QueryStyle = .default)
}

/// The format of a date.
public enum DateStyle: Sendable, Hashable {
    /// `2026-03-01T08:30:00Z`: RFC 3339, UTC, to the second.
    case iso8601
    /// Seconds since 1970, with the fraction if there is one.
    case secondsSince1970
    /// Whole milliseconds since 1970.
    case millisecondsSince1970
}

/// The format of parameters as `name=value` pairs.
///
/// ```swift
/// static let encoding = ParameterEncoding.query(QueryStyle(arrays: .brackets, writesDigits: true))
/// ```
///
/// Pairs are sorted by their escaped names, bytewise, and pairs of one name stay in order: equal parameters always
/// produce the same text. Every byte outside the unreserved characters of RFC 3986 §2.3 is percent-encoded, a space as
/// `%20`, in names and values alike, but not the brackets and dots that a style itself adds.
public struct QueryStyle: Sendable, Hashable {
    /// The format of an array.
    public enum Arrays: Sendable, Hashable {
        /// `tag=a&tag=b`
        case repeated
        /// `tag[]=a&tag[]=b`
        case brackets
        /// `tag[0]=a&tag[1]=b`
        case indices
        /// `tag=a,b`; a comma inside a value is escaped. Values that are arrays or objects themselves can't be written
        /// so.
        case commas
    }

    /// The format of an array. The default repeats the name. An empty array is not written.
    public var arrays: Arrays
    /// Whether the names of nested objects are written with dots, `price.low=1`. The default is `false`: with brackets,
    /// `price[low]=1`. An empty object is not written.
    public var writesDots: Bool
    /// Whether a Boolean is written as `1` or `0`. The default is `false`: as `true` or `false`.
    public var writesDigits: Bool
    /// Whether a null is written, as `name=`. The default is `false`. A property that is `nil` is never a parameter at
    /// all.
    public var writesNulls: Bool
    /// The format of a date. The default is ISO 8601.
    public var dates: DateStyle

    /// The defaults of every property.
    public static let `default` = QueryStyle()

    /// Sets how parameters are written; see the properties for the defaults.
    public init(
        arrays: Arrays = .repeated, writesDots: Bool = false, writesDigits: Bool = false, writesNulls: Bool = false,
        dates: DateStyle = .iso8601
    ) {
        self.arrays = arrays
        self.writesDots = writesDots
        self.writesDigits = writesDigits
        self.writesNulls = writesNulls
        self.dates = dates
    }
}
