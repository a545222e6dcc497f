/// A refusal of metadata or of a target: the role, the rule, and the section of The Update Framework 1.0 that has it.
public struct MetadataError: Error, Hashable, CustomStringConvertible {
    /// A rule of the client workflow. Names the attack that it prevents.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        /// The name of the rule.
        public let description: String

        /// The metadata does not have the form of §4.
        public static let form = Rule(description: "form")
        /// Fewer distinct keys than the threshold have signed (arbitrary software attack).
        public static let threshold = Rule(description: "threshold")
        /// The version is lower than the trusted one, or a file is no longer listed (rollback attack).
        public static let rollback = Rule(description: "rollback")
        /// The file is not the one that another document lists (mix-and-match attack).
        public static let mixAndMatch = Rule(description: "mix-and-match")
        /// The metadata has expired (freeze attack).
        public static let expiry = Rule(description: "expiry")
        /// The response is longer than allowed (endless data attack).
        public static let length = Rule(description: "length")
        /// The repository does not have a file that it must have.
        public static let absence = Rule(description: "absence")
        /// No role lists the target.
        public static let unknownTarget = Rule(description: "unknown target")
    }

    /// The name of the role, such as `snapshot`; for a target its path.
    public let role: String
    /// The broken rule.
    public let rule: Rule
    /// The section of the specification, such as `5.5.5`.
    public let section: String
    /// One sentence with the details.
    public let detail: String

    package init(_ role: String, _ rule: Rule, _ section: String, _ detail: String) {
        (self.role, self.rule, self.section, self.detail) = (role, rule, section, detail)
    }

    /// All properties in one line.
    public var description: String { "\(role): \(detail) (\(rule), TUF §\(section))" }
}
