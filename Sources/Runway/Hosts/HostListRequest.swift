/// The call that fetches the list of hosts from a service: `GET` of a path below its base URL, `hosts` by default.
public struct HostListRequest<Service: APIService>: Endpoint {
    /// The service.
    public static var service: Service.Type { Service.self }
    /// The name, as records show it.
    public static var name: String { "HostList" }
    /// 1 MiB, above what any list may have.
    public static var maximumResponseByteCount: Int { 1 << 20 }
    /// Nothing that a user waits for.
    public static var priority: CallPriority { .low }

    /// The path below the service's base URL.
    public let path: EndpointPath

    /// Makes a call.
    ///
    /// - Parameter path: The path below the service's base URL. The default is `hosts`.
    public init(path: EndpointPath = "hosts") { self.path = path }

    /// No parameters.
    public func encode(to encoder: any Encoder) {}
}
