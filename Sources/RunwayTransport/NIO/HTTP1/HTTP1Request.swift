import HTTPTypes
import NIOCore

extension ByteBuffer {
    /// Writes the head of a request (RFC 9112 §3).
    ///
    /// No line end can occur in it: the target is escaped, and the type of the fields excludes line ends.
    ///
    /// - Parameter proxy: The proxy that forwards the request, or `nil` for a connection to the server. A proxy needs
    ///   the target in absolute form, and the proxy's credentials (RFC 9112 §3.2.2, RFC 9110 §11.7.2). The default is
    ///   `nil`.
    mutating func writeHTTP1(_ head: WireRequestHead, expectsContinue: Bool, through proxy: ProxyServer? = nil) {
        writeString(head.method.rawValue)
        writeStaticString(" ")
        writeString(proxy == nil ? head.target : head.absoluteTarget)
        writeStaticString(" HTTP/1.1\r\nhost: ")
        writeString(head.authority)
        writeStaticString("\r\n")
        if let credentials = proxy?.credentials {
            writeStaticString("proxy-authorization: ")
            writeString(credentials.authorization)
            writeStaticString("\r\n")
        }
        for field in head.fields where proxy?.credentials == nil || field.name != .proxyAuthorization {
            writeString(field.name.rawName)
            writeStaticString(": ")
            _ = field.withUnsafeBytesOfValue { writeBytes($0) }
            writeStaticString("\r\n")
        }
        if head.hasUnknownLength {
            writeStaticString("transfer-encoding: chunked\r\n")
        } else if let contentLength = head.contentLength {
            writeStaticString("content-length: ")
            writeString(String(contentLength))
            writeStaticString("\r\n")
        }
        if expectsContinue { writeStaticString("expect: 100-continue\r\n") }
        writeStaticString("\r\n")
    }

    /// Writes a part of a body as a chunk (RFC 9112 §7.1).
    mutating func writeHTTP1Chunk(_ part: [UInt8]) {
        writeString(String(part.count, radix: 16))
        writeStaticString("\r\n")
        writeBytes(part)
        writeStaticString("\r\n")
    }
}

extension HTTPFields {
    /// Returns whether the fields with this name list a token. Case is ignored.
    func names(_ token: String, in name: HTTPField.Name) -> Bool {
        self[values: name].contains { value in
            value.split(separator: ",").contains { item in
                item.withoutBlanks.lowercased() == token
            }
        }
    }
}
