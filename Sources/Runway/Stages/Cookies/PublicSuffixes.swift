import Foundation
import Synchronization

/// The domains below which anybody can register a name, according to the system's copy of the Public Suffix List.
///
/// Linux distributions install the list with the package `publicsuffix`, and update it together with certificate
/// authorities. The file is read when a cookie first has a `Domain`. Apple's systems have no such file.
final class PublicSuffixes: Sendable {
    static let systemPath = "/usr/share/publicsuffix/public_suffix_list.dat"
    /// The maximum size of a list that is read: 4 MiB. Today's list has 0.3 MiB.
    private static let maximumByteCount = 4 << 20

    private let path: String
    /// Guards the rules, in ASCII. They are `nil` until they are read, and empty if there is no list.
    private let rules = Mutex<Set<String>?>(nil)

    /// Sets the path of the list, which is read later.
    init(path: String = PublicSuffixes.systemPath) { self.path = path }

    /// Returns whether anybody can register names below a domain, or `nil` if there is no list. The domain must be in
    /// lower case.
    func contains(_ domain: String) -> Bool? {
        rules.withLock { rules in
            let known = rules ?? Self.rules(at: path)
            rules = known
            return known.isEmpty ? nil : Self.contains(domain, known)
        }
    }

    /// Applies the algorithm of the Public Suffix List, with one difference: a rule such as `*.ck` also makes `ck` a
    /// public suffix.
    private static func contains(_ domain: String, _ rules: Set<String>) -> Bool {
        let labels = domain.split(separator: ".")
        let name = labels.joined(separator: ".")
        if rules.contains("!\(name)") { return false }
        let parent = labels.dropFirst().joined(separator: ".")
        // Because of the list's rule "*", a domain that matches no other rule is a public suffix if it has no parent
        // domain.
        return labels.count < 2 || rules.contains(name) || rules.contains("*.\(name)") || rules.contains("*.\(parent)")
    }

    private static func rules(at path: String) -> Set<String> {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: maximumByteCount + 1), data.count <= maximumByteCount
        else { return [] }
        // The complete list ends with this line. A truncated list lacks rules and is not used.
        guard data.range(of: Data("// ===END PRIVATE DOMAINS===".utf8)) != nil else { return [] }
        var rules: Set<String> = []
        for line in data.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            // A rule ends at the first blank. A comment begins with two slashes.
            let rule = String(decoding: line.prefix { $0 > 0x20 }, as: UTF8.self)
            if !rule.isEmpty, !rule.hasPrefix("//"), let rule = inASCII(rule) { rules.insert(rule) }
        }
        return rules
    }

    /// Returns a rule in the form of hosts: non-ASCII names become A-labels (RFC 5890).
    private static func inASCII(_ rule: String) -> String? {
        if rule.utf8.allSatisfy({ $0 < 0x80 }) { return rule.lowercased() }
        let mark = rule.hasPrefix("*.") ? "*." : rule.hasPrefix("!") ? "!" : ""
        return (try? URIAuthority(rule.dropFirst(mark.count).utf8)).map { mark + $0.host.lowercased() }
    }
}

/// Determines which hosts share a cookie that has a `Domain` attribute.
struct CookieDomains: Sendable {
    /// The domains that the service declared as belonging to one owner. If there are any, cookies are not shared within
    /// any other domain.
    let declared: Set<String>
    let suffixes: PublicSuffixes

    enum Scope {
        /// The cookie is sent to all hosts of the domain.
        case domain
        /// The cookie is sent only to the host that set it.
        case host
        /// The cookie is ignored.
        case none
    }

    /// Returns the hosts that share a cookie that was set by a host within the domain (RFC 6265bis §5.7, steps 9 and
    /// 10).
    func scope(of domain: String, from host: String) -> Scope {
        if !declared.isEmpty { return declared.contains { domain.isWithin($0.lowercased()) } ? .domain : .host }
        // Without a list, only the service can declare that a domain has one owner.
        guard let isPublic = suffixes.contains(domain) else { return .host }
        return !isPublic ? .domain : domain == host ? .host : .none
    }
}
