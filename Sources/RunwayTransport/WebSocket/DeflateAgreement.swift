import Runway

/// The negotiated parameters of permessage-deflate (RFC 7692 §7.1).
struct DeflateAgreement: Equatable {
    /// Whether the server compresses each message independently.
    var resetsServerContext = false
    /// Whether the client must compress each message independently.
    var resetsClientContext = false
    /// The maximum window size of the server, as a power of two.
    var serverWindowBits = 15
    /// The maximum window size that the client may use, as a power of two.
    var clientWindowBits = 15

    static let name = "permessage-deflate"

    /// Returns the value of `Sec-WebSocket-Extensions` for the request.
    static func text(of offer: WebSocketOffer.Deflate) -> String {
        var text = "\(name); client_max_window_bits"
        if offer.resetsServerContext { text += "; server_no_context_takeover" }
        if offer.resetsClientContext { text += "; client_no_context_takeover" }
        if let bits = offer.serverWindowBits { text += "; server_max_window_bits=\(bits)" }
        return text
    }

    /// Parses the extension that the server accepted. Returns `nil` if it accepted no extension.
    ///
    /// - Parameters:
    ///   - fields: The values of `Sec-WebSocket-Extensions` in the response.
    ///   - offer: The offer in the request, or `nil`.
    /// - Throws: ``WebSocketProblem/handshake(_:)`` if an extension was not offered or has invalid parameters.
    static func accepted(
        _ fields: [String], of offer: WebSocketOffer.Deflate?
    ) throws(WebSocketProblem) -> DeflateAgreement? {
        guard let elements = ExtensionElement.list(fields) else {
            throw .handshake("its extensions can't be parsed")
        }
        guard let element = elements.first else { return nil }
        guard let offer, elements.count == 1, element.name == name else {
            throw .handshake("it uses an extension that was not offered")
        }
        var agreement = DeflateAgreement()
        var names: Set<String> = []
        for parameter in element.parameters {
            guard names.insert(parameter.name).inserted else { throw .handshake("a parameter of \(name) is repeated") }
            try agreement.set(parameter, of: offer)
        }
        // A server that accepts the extension must accept the client's requirements, too (RFC 7692 §7.1.1.1, §7.1.2.1).
        guard !offer.resetsServerContext || agreement.resetsServerContext,
            offer.serverWindowBits == nil || names.contains("server_max_window_bits")
        else { throw .handshake("it ignores a parameter of \(name)") }
        agreement.resetsClientContext = agreement.resetsClientContext || offer.resetsClientContext
        return agreement
    }

    private mutating func set(
        _ parameter: ExtensionElement.Parameter, of offer: WebSocketOffer.Deflate
    ) throws(WebSocketProblem) {
        // The value must have only digits and no leading zeros.
        let bits = parameter.value.flatMap { value in
            value.utf8.allSatisfy(\.isDigit) && !value.hasPrefix("0") ? Int(value) : nil
        }
        switch (parameter.name, bits) {
        case ("server_no_context_takeover", _) where parameter.value == nil: resetsServerContext = true
        case ("client_no_context_takeover", _) where parameter.value == nil: resetsClientContext = true
        case ("server_max_window_bits", let bits?) where (8...(offer.serverWindowBits ?? 15)).contains(bits):
            serverWindowBits = bits
        case ("client_max_window_bits", let bits?) where (8...15).contains(bits): clientWindowBits = bits
        default: throw .handshake("a parameter of \(Self.name) is invalid")
        }
    }

    /// The negotiated extension as text, for the record of the call.
    var text: String {
        var text = Self.name
        if resetsServerContext { text += "; server_no_context_takeover" }
        if resetsClientContext { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        if clientWindowBits < 15 { text += "; client_max_window_bits=\(clientWindowBits)" }
        return text
    }
}

/// An extension in a list, with its parameters (RFC 6455 §9.1).
struct ExtensionElement: Equatable {
    struct Parameter: Equatable {
        var name: String
        /// The value without quotation marks; `nil` if the parameter has no value.
        var value: String?
    }

    var name: String
    var parameters: [Parameter] = []

    /// Parses the values of all fields. Returns `nil` if one is malformed.
    static func list(_ fields: [String]) -> [ExtensionElement]? {
        var elements: [ExtensionElement] = []
        for field in fields {
            // Splitting is safe, since neither tokens nor quoted tokens contain commas or semicolons.
            for item in field.split(separator: ",", omittingEmptySubsequences: false) {
                let parts = item.split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
                // An empty list element is ignored (RFC 9110 §5.6.1.2).
                if parts.count == 1, parts[0].isEmpty { continue }
                guard let name = parts.first, name.isToken else { return nil }
                var element = ExtensionElement(name: name.lowercased())
                for part in parts.dropFirst() {
                    guard let parameter = parameter(part) else { return nil }
                    element.parameters.append(parameter)
                }
                elements.append(element)
            }
        }
        return elements
    }

    private static func parameter(_ text: Substring) -> Parameter? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.withoutBlanks)
        guard let name = parts.first, name.isToken else { return nil }
        guard parts.count == 2 else { return Parameter(name: name.lowercased(), value: nil) }
        var value = parts[1]
        if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        guard value.isToken else { return nil }
        return Parameter(name: name.lowercased(), value: String(value))
    }
}

extension Substring {
    /// Whether the text is a token (RFC 9110 §5.6.2).
    fileprivate var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                byte.isDigit || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
