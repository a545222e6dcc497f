extension PatchRehearsal: CustomStringConvertible {
    /// The outcomes of the calls of one version of a point.
    package struct Point: Sendable, Encodable {
        /// Times in seconds.
        struct Times: Sendable, Encodable {
            let median, p99: Double

            fileprivate init?(_ times: [Duration]) {
                let sorted = times.sorted()
                if sorted.isEmpty { return nil }
                median = sorted[sorted.count / 2] / .seconds(1)
                p99 = sorted[sorted.count * 99 / 100] / .seconds(1)
            }

            fileprivate var text: String {
                func milliseconds(_ time: Double) -> String { "\((time * 100_000).rounded() / 100)" }
                return "\(milliseconds(median)) ms (\(milliseconds(p99)))"
            }
        }

        let point: String
        let version, inputs, equal, different, threw, late, mismatched, notPatched: Int
        let native, patched: Times?

        fileprivate init(_ calls: [Call]) {
            func count(_ error: ScriptError.Kind) -> Int { calls.count { $0.error?.kind == error } }
            (point, version, inputs) = (calls[0].point, calls[0].version, calls.count)
            equal = calls.count { $0.kind == .equal }
            different = calls.count { $0.kind == .different }
            notPatched = calls.count { $0.kind == .notPatched }
            (threw, late, mismatched) = (count(.threw), count(.deadlinePassed), count(.mismatched))
            (native, patched) = (Times(calls.compactMap(\.nativeTime)), Times(calls.compactMap(\.patchedTime)))
        }

        fileprivate var cells: [String] {
            [point] + [version, inputs, equal, different, threw, late, mismatched].map(String.init)
                + [native?.text ?? "-", patched?.text ?? (notPatched == inputs ? "not patched" : "-")]
        }
    }

    /// The most calls that ``description`` lists.
    private static let maximumLines = 20

    /// The points by name and version.
    package var points: [Point] {
        Dictionary(grouping: calls) { "\($0.point) \($0.version)" }.sorted { $0.key < $1.key }.map { Point($0.value) }
    }

    /// The calls that differ or failed.
    package var problems: [Call] { calls.filter { $0.kind != .equal && $0.kind != .notPatched } }

    /// A table of the points, with the median of the times and in parentheses the 99th percentile, and the first 20
    /// calls that differ or failed. The column `NATIVE` is absent if no native function was called.
    public var description: String {
        let heads = ["POINT", "VERSION", "INPUTS", "EQUAL", "DIFFERENT", "THREW", "LATE", "TYPE", "NATIVE", "PATCHED"]
        var rows = [heads] + points.map(\.cells)
        if points.allSatisfy({ $0.native == nil }) {
            for row in rows.indices { rows[row].remove(at: heads.count - 2) }
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + blanks : blanks + cell.0
            }.joined(separator: "  ")
        }
        let problems = problems
        lines += problems.prefix(Self.maximumLines).map(\.description)
        if problems.count > Self.maximumLines {
            lines.append("… and \(problems.count - Self.maximumLines) other calls")
        }
        lines += untestedPatches.map { "\($0): no recorded call has this patch" }
        return lines.joined(separator: "\n")
    }
}

extension PatchRehearsal.Call: Encodable {
    private enum CodingKeys: String, CodingKey { case line, point, version, kind, differences, error, file, fileLine }

    /// Encodes the call without its times, for `runway patch rehearse --json`.
    ///
    /// - Throws: The encoder's error.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(line, forKey: .line)
        try container.encode(point, forKey: .point)
        try container.encode(version, forKey: .version)
        try container.encode("\(kind)", forKey: .kind)
        try container.encode(differences, forKey: .differences)
        try container.encodeIfPresent(error.map { "\($0.kind): \($0.message)" }, forKey: .error)
        try container.encodeIfPresent(error?.file, forKey: .file)
        try container.encodeIfPresent(error?.line, forKey: .fileLine)
    }
}
