public import Security

// Classes are unchecked Sendable since Apple declares them Sendable; a program here changes them before it shares them.

// developer.apple.com: URLRequest
public struct URLRequest: Sendable {
    public var url: URL?
    public var httpMethod: String? = "GET"
    public var httpBody: Data?
    // developer.apple.com: URLRequest.httpBodyStream
    // Unsafe: a stream is not Sendable, and a request with one is passed on as on Apple.
    nonisolated(unsafe) public var httpBodyStream: InputStream?
    public var timeoutInterval: TimeInterval = 60
    // developer.apple.com: URLRequest.allowsExpensiveNetworkAccess
    public var allowsExpensiveNetworkAccess = true
    // developer.apple.com: URLRequest.allowsConstrainedNetworkAccess
    public var allowsConstrainedNetworkAccess = true
    public private(set) var allHTTPHeaderFields: [String: String]? = [:]
    public init(url: URL) { self.url = url }

    private func name(of field: String) -> String {
        allHTTPHeaderFields?.keys.first { $0.lowercased() == field.lowercased() } ?? field
    }
    // developer.apple.com: URLRequest.value(forHTTPHeaderField:)
    public func value(forHTTPHeaderField field: String) -> String? { allHTTPHeaderFields?[name(of: field)] }
    // developer.apple.com: URLRequest.setValue(_:forHTTPHeaderField:)
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        let name = name(of: field)
        allHTTPHeaderFields?[name] = value
    }
    // developer.apple.com: URLRequest.addValue(_:forHTTPHeaderField:)
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        let name = name(of: field)
        let joined = (allHTTPHeaderFields?[name].map { $0 + "," } ?? "") + value
        allHTTPHeaderFields?[name] = joined
    }
}

// developer.apple.com: URLResponse
open class URLResponse: NSObject, @unchecked Sendable {
    public let url: URL?
    // developer.apple.com: URLResponse.expectedContentLength; -1 for an unknown length.
    public let expectedContentLength: Int64
    init(url: URL?, expectedContentLength: Int64) {
        self.url = url
        self.expectedContentLength = expectedContentLength
    }
}

// developer.apple.com: HTTPURLResponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public let statusCode: Int
    // developer.apple.com: HTTPURLResponse.allHeaderFields
    // Unsafe: the values are strings, and never change.
    nonisolated(unsafe) public let allHeaderFields: [AnyHashable: Any]

    // developer.apple.com: HTTPURLResponse.init(url:statusCode:httpVersion:headerFields:)
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        self.statusCode = statusCode
        allHeaderFields = headerFields ?? [:]
        let length = headerFields?.first { $0.key.lowercased() == "content-length" }.flatMap { Int64($0.value) }
        let isCoded = headerFields?.contains { $0.key.lowercased() == "content-encoding" } == true
        super.init(url: url, expectedContentLength: isCoded ? -1 : length ?? -1)
    }
    // developer.apple.com: HTTPURLResponse.value(forHTTPHeaderField:)
    public func value(forHTTPHeaderField field: String) -> String? {
        allHeaderFields.first { "\($0.key)".lowercased() == field.lowercased() }.map { "\($0.value)" }
    }
}

extension URLError {
    // developer.apple.com: URLError.NetworkUnavailableReason. Newer systems have further reasons.
    public enum NetworkUnavailableReason: Int, Sendable { case cellular, expensive, constrained }
    // developer.apple.com: URLError.networkUnavailableReason, which the system stores among the error's values.
    public var networkUnavailableReason: NetworkUnavailableReason? {
        (userInfo["NSURLErrorNetworkUnavailableReasonKey"] as? Int).flatMap(NetworkUnavailableReason.init)
    }
}

// developer.apple.com: URLCredential
open class URLCredential: NSObject, @unchecked Sendable {
    /// Absent for a credential of another kind.
    let trust: SecTrust?
    // developer.apple.com: URLCredential.init(trust:)
    public init(trust: SecTrust) { self.trust = trust }
}

// developer.apple.com: URLProtectionSpace authentication methods
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
public let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"
public let NSURLAuthenticationMethodHTTPBasic = "NSURLAuthenticationMethodHTTPBasic"
public let NSURLAuthenticationMethodHTTPDigest = "NSURLAuthenticationMethodHTTPDigest"
public let NSURLAuthenticationMethodNTLM = "NSURLAuthenticationMethodNTLM"

// developer.apple.com: URLProtectionSpace
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    public let host: String
    public let authenticationMethod: String
    // developer.apple.com: URLProtectionSpace.proxyType
    public let proxyType: String?
    // developer.apple.com: URLProtectionSpace.serverTrust
    public let serverTrust: SecTrust?
    public init(fakeHost host: String, method: String, proxyType: String? = nil, trust: SecTrust? = nil) {
        (self.host, authenticationMethod, self.proxyType, serverTrust) = (host, method, proxyType, trust)
    }
    // developer.apple.com: URLProtectionSpace.isProxy()
    public override func isProxy() -> Bool { proxyType != nil }
}

// developer.apple.com: URLAuthenticationChallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public let protectionSpace: URLProtectionSpace
    public let previousFailureCount = 0
    public init(fakeOf space: URLProtectionSpace) { protectionSpace = space }
}
