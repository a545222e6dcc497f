#if canImport(Darwin)
    import Foundation
    import Security

    extension URLSessionTaskTransactionMetrics {
        /// The HTTP version for records; `nil` if the system does not report it.
        var httpVersion: String? {
            switch networkProtocolName {
            case "h3": "HTTP/3"
            case "h2": "HTTP/2"
            case "http/1.1": "HTTP/1.1"
            default: nil
            }
        }
    }

    extension WireRecord {
        /// Creates the record of one request from the system's measurements. The address is the last one that the
        /// system connected to. It may be the address of a proxy.
        init(_ metrics: URLSessionTaskTransactionMetrics) {
            self.init()
            isReused = metrics.isReusedConnection
            if let host = metrics.remoteAddress {
                let port = metrics.remotePort.map { ":\($0)" } ?? ""
                address = (host.contains(":") ? "[\(host)]" : host) + port
            }
            switch metrics.negotiatedTLSProtocolVersion {
            case .TLSv13?: tlsVersion = "TLSv1.3"
            case .TLSv12?: tlsVersion = "TLSv1.2"
            default: break
            }
            queueing = Self.time(metrics.fetchStartDate, metrics.requestStartDate)
            dns = Self.time(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
            // The time of TCP ends where TLS starts. The system's connection time includes TLS.
            tcp = Self.time(metrics.connectStartDate, metrics.secureConnectionStartDate ?? metrics.connectEndDate)
            tls = Self.time(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
            sending = Self.time(metrics.requestStartDate, metrics.requestEndDate)
            waiting = Self.time(metrics.requestEndDate, metrics.responseStartDate)
            receiving = Self.time(metrics.responseStartDate, metrics.responseEndDate)
            let sent = metrics.countOfRequestHeaderBytesSent + metrics.countOfRequestBodyBytesSent
            let received = metrics.countOfResponseHeaderBytesReceived + metrics.countOfResponseBodyBytesReceived
            sentByteCount = sent > 0 ? Int(clamping: sent) : nil
            receivedByteCount = received > 0 ? Int(clamping: received) : nil
        }

        private static func time(_ start: Date?, _ end: Date?) -> Duration? {
            guard let start, let end, end >= start else { return nil }
            return .seconds(end.timeIntervalSince(start))
        }
    }
#endif
