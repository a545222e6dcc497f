import HTTPTypes

extension SignatureContext {
    /// Returns the bytes to sign (RFC 9421 §2.5).
    ///
    /// Throws a ``SignatureError`` if the message does not have a component, a component does not apply to the message,
    /// or a value cannot be signed. An absent field is an error, never an empty value.
    public func signatureBase(for parameters: SignatureParameters) throws(SignatureError) -> [UInt8] {
        var base = SignatureBase(context: self)
        for component in parameters.components.identifiers { try base.append(component) }
        base.bytes.append(text: "\"@signature-params\": ")
        base.bytes.append(text: parameters.serialized)
        return base.bytes
    }

    /// Returns the signature base without lines for components that the message does not have. Use it for a comparison
    /// with the signer's signature base.
    package func availableBase(for parameters: SignatureParameters) -> [UInt8] {
        var base = SignatureBase(context: self)
        for component in parameters.components.identifiers {
            let start = base.bytes.count
            do throws(SignatureError) {
                try base.append(component)
            } catch {
                base.bytes.removeSubrange(start...)
            }
        }
        return base.bytes + "\"@signature-params\": \(parameters.serialized)".utf8
    }
}

/// Builds a signature base line by line.
private struct SignatureBase {
    let context: SignatureContext
    var bytes: [UInt8] = []
    /// The request that is signed, or the request of the signed response.
    private let request: HTTPRequest
    /// Whether the signature covers the request rather than its response.
    private let signsRequest: Bool
    private let target: RequestTarget
    /// The query parameters by encoded name, computed on first use. The value is `nil` if the name occurs twice.
    private var queryParameters: [String: String?]?
    private var dictionaries = ParsedDictionaries()

    init(context: SignatureContext) {
        self.context = context
        switch context.message {
        case .request(let request): (self.request, signsRequest) = (request, true)
        case .response(_, to: let request): (self.request, signsRequest) = (request, false)
        }
        target = RequestTarget(request)
        bytes.reserveCapacity(512)
    }

    mutating func append(_ component: ComponentIdentifier) throws(SignatureError) {
        bytes.append(text: component.serialized)
        bytes.append(text: ": ")
        let start = bytes.count
        let isDerived = component.isDerived
        if isDerived {
            try appendDerived(component)
            // A value must have no space at either end (RFC 9421 §2.2).
            let space = UInt8(ascii: " ")
            if start < bytes.count, bytes[start] == space || bytes.last == space {
                throw SignatureError(.invalidValue, component.serialized)
            }
        } else {
            try appendField(component)
        }
        // Printable characters and spaces are valid, and in fields also tabs (RFC 9421 §2.1, §2.2).
        let isValid = bytes.withUnsafeBufferPointer { bytes in
            UnsafeBufferPointer(rebasing: bytes[start...]).allSatisfy {
                (0x20...0x7E).contains($0) || $0 == 0x09 && !isDerived
            }
        }
        guard isValid else { throw SignatureError(.invalidValue, component.serialized) }
        bytes.append(UInt8(ascii: "\n"))
    }

    // MARK: - Derived components (RFC 9421 §2.2)

    private mutating func appendDerived(_ component: ComponentIdentifier) throws(SignatureError) {
        let uses = try ParameterUse(of: component)
        let isQueryParameter = if case .queryParameter = component.source { true } else { false }
        guard !uses.hasFieldParameter, (uses.queryName != nil) == isQueryParameter else {
            throw SignatureError(.unknownParameter, component.serialized)
        }
        if case .status = component.source {
            guard case .response(let response, _) = context.message, !uses.isFromRequest else {
                throw SignatureError(.otherMessage, component.serialized)
            }
            bytes.append(text: String(response.status.code))
            return
        }
        guard uses.isFromRequest != signsRequest else { throw SignatureError(.otherMessage, component.serialized) }
        guard let value = try value(of: component, queryName: uses.queryName) else {
            throw SignatureError(.missing, component.serialized)
        }
        bytes.append(text: value)
    }

    private mutating func value(
        of component: ComponentIdentifier, queryName: String?
    ) throws(SignatureError) -> Substring? {
        switch component.source {
        case .method: return request.method.rawValue[...]
        case .requestTarget: return (request.method == .connect ? request.authority : request.path)?[...]
        case .authority: return target.normalizedAuthority?[...]
        case .scheme: return target.normalizedScheme?[...]
        case .path: return target.path
        case .query: return target.query
        case .targetURI: return target.uri?[...]
        case .queryParameter:
            guard let query = target.query else { return nil }
            return try queryParameter(queryName ?? "", of: query, for: component)
        case .status, .field, .unknown: throw SignatureError(.unknownComponent, component.serialized)
        }
    }

    private mutating func queryParameter(
        _ name: String, of query: Substring, for component: ComponentIdentifier
    ) throws(SignatureError) -> Substring? {
        if queryParameters == nil {
            let pairs = try FormEncoding.parameters(of: query.dropFirst().utf8).map { ($0.name, Optional($0.value)) }
            queryParameters = Dictionary(pairs) { _, _ in nil }
        }
        guard let found = queryParameters?[name] else { return nil }
        guard let value = found else { throw SignatureError(.repeatedQueryParameter, component.serialized) }
        return value[...]
    }

    // MARK: - Fields (RFC 9421 §2.1)

    private mutating func appendField(_ component: ComponentIdentifier) throws(SignatureError) {
        guard case .field(let name) = component.source else {
            throw SignatureError(.unknownComponent, component.serialized)
        }
        let uses = try ParameterUse(of: component)
        guard uses.queryName == nil else { throw SignatureError(.unknownParameter, component.serialized) }
        if let key = uses.member {
            bytes += try member(key, of: name, component, uses)
            return
        }
        if uses.isStrict {
            let lines = try lines(of: name, component, uses)
            guard let type = context.structuredFieldTypes[component.name] else {
                throw SignatureError(.notStructured, component.serialized)
            }
            bytes += try StructuredFieldParsing().strictValue(
                of: lines.map(\.value), as: type, named: component.serialized)
            return
        }
        append(try lines(of: name, component, uses), asBytes: uses.isBytes)
    }

    private mutating func member(
        _ key: String, of name: HTTPField.Name, _ component: ComponentIdentifier, _ uses: ParameterUse
    ) throws(SignatureError) -> [UInt8] {
        guard context.structuredFieldTypes[component.name, default: .dictionary] == .dictionary else {
            throw SignatureError(.notStructured, component.serialized)
        }
        let field = ParsedDictionaries.Field(
            name: component.name, isFromRequest: uses.isFromRequest, isTrailer: uses.isTrailer)
        let member = try dictionaries.member(key, of: field) { [self] () throws(SignatureError) in
            let lines = try lines(of: name, component, uses)
            return try StructuredFieldParsing().dictionary(lines.map(\.value), named: component.serialized)
        }
        guard let member else { throw SignatureError(.missing, component.serialized) }
        return try StructuredFieldParsing().strictValue(of: member, named: component.serialized)
    }

    private func lines(
        of name: HTTPField.Name, _ component: ComponentIdentifier, _ uses: ParameterUse
    ) throws(SignatureError) -> [HTTPField] {
        let fields: HTTPFields?
        switch (context.message, uses.isFromRequest) {
        case (.request, false): fields = uses.isTrailer ? context.trailerFields : request.headerFields
        case (.response(let response, _), false):
            fields = uses.isTrailer ? context.trailerFields : response.headerFields
        case (.response, true): fields = uses.isTrailer ? context.requestTrailerFields : request.headerFields
        case (.request, true): throw SignatureError(.otherMessage, component.serialized)
        }
        let lines = fields?[fields: name] ?? []
        if !lines.isEmpty { return lines }
        // In versions of HTTP with `:authority`, Host is not a header field.
        if component.name == "host", !uses.isTrailer, uses.isFromRequest != signsRequest,
            let authority = request.authority
        {
            return [HTTPField(name: name, value: authority)]
        }
        throw SignatureError(.missing, component.serialized)
    }

    private mutating func append(_ lines: [HTTPField], asBytes: Bool) {
        var isFirst = true
        for line in lines {
            if !isFirst { bytes.append(text: ", ") }
            isFirst = false
            line.withUnsafeBytesOfValue { buffer in
                let value = UnsafeBufferPointer(rebasing: buffer.trimmingBlanks())
                if asBytes {
                    bytes.append(text: ":\(Base64.encoded(value)):")
                } else {
                    bytes += value
                }
            }
        }
    }
}

/// The parameters of a component, after checking that they can be combined.
private struct ParameterUse {
    private(set) var isStrict = false
    private(set) var isBytes = false
    private(set) var isFromRequest = false
    private(set) var isTrailer = false
    private(set) var member: String?
    private(set) var queryName: String?

    /// Whether a parameter is set that only fields may have.
    var hasFieldParameter: Bool { isStrict || isBytes || isTrailer || member != nil }

    init(of component: ComponentIdentifier) throws(SignatureError) {
        if component.parameters.isEmpty { return }
        for parameter in component.parameters {
            switch parameter {
            case .strict: isStrict = true
            case .bytes: isBytes = true
            case .request: isFromRequest = true
            case .trailer: isTrailer = true
            case .member(let key): member = key
            case .queryName(let name): queryName = name
            case .unknown: throw SignatureError(.unknownParameter, component.serialized)
            }
        }
        if isBytes, isStrict || member != nil { throw SignatureError(.incompatibleParameters, component.serialized) }
    }
}
