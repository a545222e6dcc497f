/// The failure of an operation on the bundles of an app.
public struct BundleError: Error, CustomStringConvertible {
    /// The kind of a failure. Later versions may add kinds.
    public struct Kind: Sendable, Hashable {
        private enum Code { case invalid, inUse, storage, damaged }

        private let code: Code

        /// A parameter is invalid, such as the URL of the repository.
        public static let invalid = Kind(code: .invalid)
        /// Another store, perhaps of another process, has the folder open.
        public static let inUse = Kind(code: .inUse)
        /// A file can't be read or written.
        public static let storage = Kind(code: .storage)
        /// A file does not have the bytes that the manifest of its bundle lists.
        public static let damaged = Kind(code: .damaged)
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The failure in one sentence.
    public let description: String

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
