/// Converts a response into what a view shows, in one pass.
///
/// One reformer may serve many APIs, and distinguishes them by the endpoint; one API may have many reformers. The value
/// is whatever the view takes: a dictionary of ``ViewData``, a struct, or the view itself.
///
/// ```swift
/// struct PropertyListReformer: Reformer {
///     func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [ViewData] {
///         switch endpoint {
///         case is RentalList: rawData["result"]["items"].elements.map(propertyRow)
///         case is NewHomesList: rawData["data"]["homes"].elements.map(propertyRow)
///         default: throw UnknownEndpoint()
///         }
///     }
/// }
/// ```
///
/// `reform` runs in the isolation of its caller, which for a manager is the main actor; a reformer that creates views
/// conforms there (`extension X: @MainActor Reformer`). A reformer that is `Sendable` can also be run off the main
/// actor.
public protocol Reformer<Value> {
    /// What the reformer returns.
    associatedtype Value

    /// Returns the value.
    ///
    /// - Parameters:
    ///   - rawData: The response.
    ///   - endpoint: The parameters of its call.
    /// - Throws: Any error; `fetch` throws it as the ``NetworkError/underlying`` of one ``NetworkError``.
    func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Value
}
