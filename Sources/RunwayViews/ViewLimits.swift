/// Limits of a document and of the trees made from it.
///
/// A document that exceeds a limit is refused. Data can't be refused: a tree stops growing at its limit, and
/// ``ViewTree/isTruncated`` is set.
///
/// Four limits are the same for all documents:
///
/// - A template has at most 64 parameters, and a repeated node at most 256 paths that do not begin at its element.
///   Documents with more are refused.
/// - The names of events, slots and parameters have at most 128 bytes. Longer ones are ignored, and listed in
///   ``ViewDocument/problems``.
/// - One tree looks up at most 100 paths for each node of its limit. Further paths are empty.
public struct ViewLimits: Sendable, Hashable {
    /// The maximum size of a document in bytes. The default is 1 MiB.
    public var maximumByteCount: Int
    /// The maximum depth of nested nodes, with the nodes of templates where they are used. The default is 32;
    /// values above have no effect, so that the stack of any thread suffices.
    public var maximumDepth: Int
    /// The maximum number of nodes that are read in a document, and that are visited to make one tree: hidden nodes and
    /// uses of templates count. The default is 10 000. Rows of a list are not in the tree; they have
    /// ``maximumRowNodeCount``.
    public var maximumNodeCount: Int
    /// The maximum number of nodes that are visited to make one row of a list. The default is 1000.
    public var maximumRowNodeCount: Int
    /// The maximum number of rows of a list or pages of a pager; each of them in a tree may have as many. The default
    /// is 100 000.
    public var maximumRowCount: Int
    /// The maximum length of one text, or of the detail of one event, in bytes of UTF-8. Longer texts are cut, longer
    /// details are `null`. The default is 10 000; all texts of a tree may have 100 times as much, with those that are
    /// made for the parameters of templates and slots.
    public var maximumTextLength: Int
    /// The maximum number of entries in ``ViewDocument/problems``. The default is 100.
    public var maximumProblemCount: Int

    /// The default limits.
    public static let `default` = ViewLimits()

    /// Creates limits. Each parameter has the default of its property.
    public init(
        maximumByteCount: Int = 1 << 20,
        maximumDepth: Int = 32,
        maximumNodeCount: Int = 10_000,
        maximumRowNodeCount: Int = 1000,
        maximumRowCount: Int = 100_000,
        maximumTextLength: Int = 10_000,
        maximumProblemCount: Int = 100
    ) {
        self.maximumByteCount = maximumByteCount
        self.maximumDepth = maximumDepth
        self.maximumNodeCount = maximumNodeCount
        self.maximumRowNodeCount = maximumRowNodeCount
        self.maximumRowCount = maximumRowCount
        self.maximumTextLength = maximumTextLength
        self.maximumProblemCount = maximumProblemCount
    }

    /// How many paths a tree or a row may look up for each node of its limit.
    static let pathsOfANode = 100

    var effectiveDepth: Int { min(maximumDepth, 32) }

    /// The maximum length of all texts of one tree, or of one row, in bytes.
    var totalTextLength: Int { min(maximumTextLength, 1 << 20) * 100 }
}
