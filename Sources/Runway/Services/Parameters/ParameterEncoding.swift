/// Determines which part of the request contains the parameters of a call, and their format.
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
    /// The parameters are in the query of the URL (RFC 3986 §3.4).
    case query(QueryStyle = .default)
    /// The parameters are in the body, as a form (`application/x-www-form-urlencoded`).
    case form(QueryStyle = .default)
    /// The parameters are in the body, as a JSON object with names in code point order (RFC 8259).
    ///
    /// Arrays, objects, Booleans and nulls become their JSON equivalents. Dates have the format `dates`, and bytes are
    /// Base64.
    case json(dates: DateStyle = .iso8601)
    /// The body is ``Endpoint/content`` with this media type. The parameters are in the query.
    case raw(contentType: String)
    /// The body is a form with files (`multipart/form-data`, RFC 7578). It contains the parameters as fields, followed
    /// by ``Endpoint/parts``.
    ///
    /// Names and values are written in the `QueryStyle`, unescaped.
    case multipart(QueryStyle = .default)
}

/// The format in which dates are sent.
public enum DateStyle: Sendable, Hashable {
    /// RFC 3339 in UTC with whole seconds, such as `2026-03-01T08:30:00Z`.
    case iso8601
    /// Seconds since 1970, including a fraction if the date has one.
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
/// Pairs are sorted bytewise by their escaped names, and pairs with the same name stay in order. Equal parameters
/// therefore always produce the same text. In names and values, every byte outside the unreserved characters of RFC
/// 3986 §2.3 is percent-encoded, a space as `%20`. The brackets and dots that a style itself adds are not encoded.
public struct QueryStyle: Sendable, Hashable {
    /// The format in which arrays are sent.
    public enum Arrays: Sendable, Hashable {
        /// The name is repeated: `tag=a&tag=b`.
        case repeated
        /// The name is repeated with brackets: `tag[]=a&tag[]=b`.
        case brackets
        /// The name is repeated with an index: `tag[0]=a&tag[1]=b`.
        case indices
        /// The values are separated by commas: `tag=a,b`. A comma within a value is escaped. The values must not be
        /// arrays or objects.
        case commas
    }

    /// The format of arrays. The default is ``Arrays/repeated``. An empty array is omitted.
    public var arrays: Arrays
    /// Whether the names of nested objects are written with dots, as in `price.low=1`. The default is `false`: they are
    /// written with brackets, as in `price[low]=1`. An empty object is omitted.
    public var writesDots: Bool
    /// Whether a Boolean is written as `1` or `0`. The default is `false`: it is written as `true` or `false`.
    public var writesDigits: Bool
    /// Whether a null is written, as `name=`. The default is `false`: nulls are omitted. A property that is `nil` never
    /// becomes a parameter.
    public var writesNulls: Bool
    /// The format of dates. The default is ISO 8601.
    public var dates: DateStyle

    /// The style with all defaults.
    public static let `default` = QueryStyle()

    /// Creates a style. The properties state the defaults.
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
