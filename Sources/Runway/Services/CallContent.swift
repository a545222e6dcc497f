/// What an endpoint says of one call, read once: what tells its request apart from those of other calls of the same API.
struct CallContent: Sendable {
    /// The path below the service's base URL.
    let path: EndpointPath
    /// The parameters, without those common to the service.
    let parameters: Parameters
    /// The header fields, without those common to the service.
    let headers: [String: String]

    /// Reads what an endpoint says.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` where its parameters can't be made.
    init(of endpoint: some Endpoint) throws(NetworkError) {
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        headers = endpoint.headers
    }
}

extension CallContent {
    /// About how many bytes it takes.
    var byteCount: Int {
        path.percentEncoded.utf8.count + parameters.byteCount
            + headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 32 }
    }
}

extension CallContent: Hashable {
    /// Whether two contents make the same request: texts by their bytes, and names in any order.
    static func == (lhs: CallContent, rhs: CallContent) -> Bool {
        lhs.path.percentEncoded == rhs.path.percentEncoded && lhs.parameters.isIdentical(to: rhs.parameters)
            && (lhs.headers.isEmpty ? rhs.headers.isEmpty : lhs.headers.isIdentical(to: rhs.headers))
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(path.percentEncoded)
        parameters.hashUnordered(into: &hasher)
        if !headers.isEmpty { hasher.combine(headers) }
    }
}

extension Parameters {
    /// Whether these are the same values under the same names, in whatever order the names stand. Texts are compared by their bytes, which
    /// are what is sent: `==` takes the two ways to write an "é" for one.
    func isIdentical(to other: Parameters) -> Bool {
        guard entries.count == other.entries.count else { return false }
        // Equal calls give their parameters in equal order, almost always.
        if Self.areIdentical(entries, other.entries) { return true }
        return Self.areIdentical(entries.sortedByName, other.entries.sortedByName)
    }

    private static func areIdentical(_ one: [Entry], _ other: [Entry]) -> Bool {
        zip(one, other).allSatisfy { $0.name.isIdentical(to: $1.name) && $0.value.isIdentical(to: $1.value) }
    }

    /// About how many bytes they take.
    fileprivate var byteCount: Int {
        entries.reduce(0) { $0 + MemoryLayout<Entry>.stride + $1.name.utf8.count + $1.value.byteCount }
    }

    /// Feeds a hash that does not depend on the order of the names.
    func hashUnordered(into hasher: inout Hasher) {
        var digest = entries.count
        for entry in entries {
            var own = Hasher()
            own.combine(entry.name)
            entry.value.hashUnordered(into: &own)
            digest &+= own.finalize()
        }
        hasher.combine(digest)
    }
}

extension [Parameters.Entry] {
    /// The entries in the order of their names; those of one name keep theirs.
    fileprivate var sortedByName: Self {
        sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension ParameterValue {
    fileprivate func isIdentical(to other: ParameterValue) -> Bool {
        switch (self, other) {
        case (.string(let one), .string(let other)): one.isIdentical(to: other)
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.isIdentical(to: $1) }
        case (.object(let one), .object(let other)): one.isIdentical(to: other)
        default: self == other
        }
    }

    /// About how many bytes the value takes beyond its own size.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .array(let elements): elements.reduce(0) { $0 + MemoryLayout<Self>.stride + $1.byteCount }
        case .object(let members): members.byteCount
        default: 0
        }
    }

    fileprivate func hashUnordered(into hasher: inout Hasher) {
        switch self {
        case .array(let elements): for element in elements { element.hashUnordered(into: &hasher) }
        case .object(let members): members.hashUnordered(into: &hasher)
        default: hasher.combine(self)
        }
    }
}

extension [String: String] {
    /// Whether the values of all names are the same bytes.
    func isIdentical(to other: Self) -> Bool {
        count == other.count && allSatisfy { name, value in other[name].map(value.isIdentical) ?? false }
    }
}

extension String {
    /// Whether both are the same bytes in UTF-8.
    fileprivate func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
