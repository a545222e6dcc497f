/// Fetches the list of hosts from a service: `GET` of a path below its base URL.
struct HostListRequest<Service: APIService>: Endpoint {
    /// The service.
    static var service: Service.Type { Service.self }
    /// The name, as records show it.
    static var name: String { "HostList" }
    /// 1 MiB, above what any list may have.
    static var maximumResponseByteCount: Int { 1 << 20 }
    /// Nothing that a user waits for.
    static var priority: CallPriority { .low }

    /// The path below the service's base URL.
    let path: EndpointPath

    /// No parameters.
    func encode(to encoder: any Encoder) {}
}
