#if Command
    /// A ``ListingsBackend`` that accepts requests.
    package struct ServingBackend: Sendable {
        /// The address that the backend is bound to, such as `127.0.0.1`.
        package let host: String

        /// The port that the backend is bound to, never 0.
        package let port: Int

        /// The certificate that clients must trust; `nil` for a backend without TLS.
        package let certificate: DemoCertificate?

        let counter: StatisticsCounter

        /// The base of all URLs, such as `https://127.0.0.1:40123`, without a trailing slash.
        package var baseURL: String {
            // RFC 3986 §3.2.2: an IPv6 address is in brackets.
            let authority = host.contains(":") ? "[\(host)]" : host
            return "\(certificate == nil ? "http" : "https")://\(authority):\(port)"
        }

        /// The requests that the backend has received so far.
        package var statistics: BackendStatistics { counter.current }
    }
#endif
