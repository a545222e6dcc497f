public import Security

// Classes are unchecked Sendable since Apple declares them Sendable; a program here changes them before it shares them.

// developer.apple.com: URLSessionTaskMetrics
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    // developer.apple.com: URLSessionTaskMetrics.transactionMetrics
    public let transactionMetrics: [URLSessionTaskTransactionMetrics]
    public init(fakeOf transactions: [URLSessionTaskTransactionMetrics]) { transactionMetrics = transactions }
}

// developer.apple.com: URLSessionTaskTransactionMetrics. The fakes set what is read-only there.
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    public var fetchStartDate: Date?
    public var domainLookupStartDate: Date?
    public var domainLookupEndDate: Date?
    public var connectStartDate: Date?
    public var secureConnectionStartDate: Date?
    public var secureConnectionEndDate: Date?
    public var connectEndDate: Date?
    public var requestStartDate: Date?
    public var requestEndDate: Date?
    public var responseStartDate: Date?
    public var responseEndDate: Date?
    public var networkProtocolName: String?
    public var isProxyConnection = false
    public var isReusedConnection = false
    // developer.apple.com: URLSessionTaskMetrics.ResourceFetchType
    public var resourceFetchType = URLSessionTaskMetrics.ResourceFetchType.networkLoad
    public var remoteAddress: String?
    public var remotePort: Int?
    // developer.apple.com: URLSessionTaskTransactionMetrics.negotiatedTLSProtocolVersion
    public var negotiatedTLSProtocolVersion: tls_protocol_version_t?
    public var countOfRequestHeaderBytesSent: Int64 = 0
    public var countOfRequestBodyBytesSent: Int64 = 0
    public var countOfResponseHeaderBytesReceived: Int64 = 0
    public var countOfResponseBodyBytesReceived: Int64 = 0
    public override init() {}
}

extension URLSessionTaskMetrics {
    public enum ResourceFetchType: Int, Sendable { case unknown, networkLoad, serverPush, localCache }
}
