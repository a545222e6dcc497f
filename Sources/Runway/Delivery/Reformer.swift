/// Converts a response into a value for a view, in one pass.
///
/// One reformer may convert the responses of several endpoints, which it distinguishes by `endpoint`. One endpoint may
/// have several reformers. The value can be anything that the view accepts: a dictionary of ``ViewData``, a struct, or
/// the view itself.
///
/// ```swift
/// struct PropertyListReformer: Reformer {
///     func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [ViewData] {
///         switch endpoint {
///         case is RentalList: rawData["result"]["items"].elements.map(propertyRow)
///         case is NewHomesList: rawData["data"]["homes"].elements.map(propertyRow)
///
///         default: throw UnknownEndpoint()
///         }
///     }
/// }
/// ```
///
/// `reform` runs in its caller's isolation; for a manager this is the main actor. A reformer that creates views
/// conforms to the protocol on the main actor (`extension X: @MainActor Reformer`). A reformer that is `Sendable` can
/// also run off the main actor.
public protocol Reformer<Value> {
    /// The type of the value that the reformer creates from a response.
    associatedtype Value

    /// Creates the value from a response.
    ///
    /// - Parameters:
    ///   - rawData: The response.
    ///   - endpoint: The endpoint with the parameters of the call.
    /// - Throws: Any error. `fetch` then throws a ``NetworkError`` whose ``NetworkError/underlying`` error is the
    ///   thrown error.
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Value
}
