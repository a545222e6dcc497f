import RunwayJSON

/// Addresses of hosts, bundled with an app or sent by a server.
///
/// A list never extends trust. TLS verifies the host's name at every address, and an address is used only for calls to
/// the host that has this address in the list.
///
/// ```swift
/// let bundled = try HostList(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
/// ```
public struct HostList: Sendable, Hashable {
    /// The addresses of each host, in the server's order of preference. Keys are host names in lower case.
    public let addresses: [String: [IPAddress]]
    /// The time for which the list is valid: at least a minute, at most thirty days. The default is a day.
    public let lifetime: Duration

    /// Creates a list of the addresses of hosts.
    ///
    /// - Parameters:
    ///   - addresses: The addresses by host name. The case of the names does not matter.
    ///   - lifetime: The time for which the list is valid.
    ///   - policy: The limits for the list.
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for an empty list, a host without an address, an invalid
    ///   host name or address, an address that the policy forbids for the host, or more entries than the policy allows.
    public init(
        _ addresses: [String: [String]], lifetime: Duration = .seconds(86_400), policy: HostListPolicy = .standard
    ) throws(NetworkError) {
        try self.init(
            members: addresses.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, lifetime: lifetime, policy)
    }

    /// Parses a list in the server's format: `{"hosts":{"api.example.com":["203.0.113.7","2001:db8::7"]},"ttl":86400}`.
    /// Other members are ignored.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration``, for example if the bytes are not such a JSON object.
    public init(json bytes: [UInt8], policy: HostListPolicy = .standard) throws(NetworkError) {
        guard bytes.count <= policy.maximumByteCount else {
            throw NetworkError.invalidHostList(
                "The list of hosts has \(bytes.count) bytes; at most \(policy.maximumByteCount) are read.")
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes, limits: JSONLimits(maximumDepth: 16))
        } catch {
            throw NetworkError.invalidHostList("The list of hosts is not JSON: \(error)")
        }
        try self.init(json: document.root, policy: policy)
    }

    init(json value: JSONValue, policy: HostListPolicy) throws(NetworkError) {
        let hosts = value["hosts"]
        guard hosts.kind == .object else {
            throw NetworkError.invalidHostList("The list of hosts has no object \"hosts\".")
        }
        guard hosts.count <= policy.maximumHosts else { throw Self.tooManyHosts(hosts.count, policy) }
        var members: [(String, [String])] = []
        for member in hosts.members {
            guard member.value.kind == .array, member.value.count <= policy.maximumAddressesPerHost else {
                throw NetworkError.invalidHostList(
                    "The value of \(Self.shown(member.key)) is not an array of at most \(policy.maximumAddressesPerHost) addresses."
                )
            }
            var texts: [String] = []
            for element in member.value.elements {
                guard let text = element.string else {
                    throw NetworkError.invalidHostList("An address of \(Self.shown(member.key)) is not a string.")
                }
                texts.append(text)
            }
            members.append((member.key, texts))
        }
        let ttl = value["ttl"]
        guard !ttl.exists || (ttl.int ?? 0) > 0 else {
            throw NetworkError.invalidHostList("The \"ttl\" of the list of hosts is not a number of seconds above 0.")
        }
        try self.init(members: members, lifetime: .seconds(min(ttl.int ?? 86_400, 30 * 86_400)), policy)
    }

    private init(
        members: [(name: String, texts: [String])], lifetime: Duration, _ policy: HostListPolicy
    ) throws(NetworkError) {
        guard !members.isEmpty else { throw NetworkError.invalidHostList("The list of hosts is empty.") }
        guard members.count <= policy.maximumHosts else { throw Self.tooManyHosts(members.count, policy) }
        var addresses: [String: [IPAddress]] = [:]
        for (name, texts) in members {
            let host = name.lowercased()
            guard HostListPolicy.isHostName(host) else {
                throw NetworkError.invalidHostList("\(Self.shown(name)) is not the name of one host.")
            }
            guard addresses[host] == nil else {
                throw NetworkError.invalidHostList("\(Self.shown(name)) occurs in the list twice.")
            }
            guard (1...policy.maximumAddressesPerHost).contains(texts.count) else {
                throw NetworkError.invalidHostList(
                    "\(host) has \(texts.count) addresses; 1 to \(policy.maximumAddressesPerHost) are read.")
            }
            var known: [IPAddress] = []
            for text in texts {
                guard let address = IPAddress(text) else {
                    throw NetworkError.invalidHostList("\(Self.shown(text)) under \(host) is not an IP address.")
                }
                if !policy.allowsPrivateAddresses, !address.isPublic, HostListPolicy.isPublicName(host) {
                    throw NetworkError.invalidHostList(
                        "\(address) is not an address of the internet, and \(host) is a name of it.")
                }
                if !known.contains(address) { known.append(address) }
            }
            addresses[host] = known
        }
        self.addresses = addresses
        self.lifetime = min(max(lifetime, .seconds(60)), .seconds(30 * 86_400))
    }

    /// Returns the addresses of a host; empty if the list does not contain the host.
    public func addresses(of host: String) -> [IPAddress] { addresses[host.lowercased()] ?? [] }

    /// The list as JSON in the server's format.
    public var json: [UInt8] {
        // Names and addresses contain no characters that JSON would escape.
        let hosts = addresses.sorted { $0.key < $1.key }.map { host, addresses in
            "\"\(host)\":[\(addresses.map { "\"\($0)\"" }.joined(separator: ","))]"
        }
        return Array("{\"hosts\":{\(hosts.joined(separator: ","))},\"ttl\":\(lifetime.components.seconds)}".utf8)
    }

    private static func tooManyHosts(_ count: Int, _ policy: HostListPolicy) -> NetworkError {
        NetworkError.invalidHostList("The list of hosts has \(count) hosts; at most \(policy.maximumHosts) are read.")
    }

    /// Returns an untrusted text in a form for error messages: quoted, shortened, and without control characters.
    private static func shown(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(64).map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
        return "\"\(String(String.UnicodeScalarView(start)))\(text.unicodeScalars.count > 64 ? "…" : "")\""
    }
}

extension NetworkError {
    /// The error for a list that is invalid or can't be read.
    static func invalidHostList(_ detail: String) -> NetworkError {
        NetworkError(.invalidConfiguration, in: .routing, detail, sending: .notSent)
    }
}
