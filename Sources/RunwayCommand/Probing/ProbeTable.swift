import Foundation
import Runway
import RunwayTransport

/// Formats the results of a probe as a table or as JSON.
struct ProbeTable {
    let report: HostProbeReport

    /// The results as one JSON object. Unknown values are left out.
    var json: [UInt8] {
        get throws {
            let addresses = report.entries.map { entry in
                var object: Parameters = ["address": "\(entry.address)", "source": .string(entry.source.rawValue)]
                object["tcp"] = entry.tcp.map { .double($0.jsonSeconds) }
                object["tls"] = entry.tls.map { .double($0.jsonSeconds) }
                object["total"] = entry.total.map { .double($0.jsonSeconds) }
                object["tlsVersion"] = entry.tlsVersion.map { .string($0) }
                object["protocol"] = entry.applicationProtocol.map { .string($0) }
                object["error"] = entry.failure.map { .string($0) }
                return ParameterValue.object(object)
            }
            var object: Parameters = [
                "host": .string(report.host), "port": .integer(Int64(report.port)), "addresses": .array(addresses),
            ]
            object["dns"] = report.dns.map { .double($0.jsonSeconds) }
            object["dnsError"] = report.dnsFailure.map { .string($0) }
            return try object.json(dates: .iso8601)
        }
    }

    /// Returns a line about the host name, and a table of its addresses, the fastest first.
    func text(for console: Console) -> ConsoleText {
        let host = report.host.contains(":") ? "[\(report.host)]" : report.host
        var text = ConsoleText("\(host):\(report.port)", .bold, for: console)
        if let dns = report.dns { text.append("  DNS \(dns.text)") }
        if let failure = report.dnsFailure {
            text.append("  ")
            text.append(failure.oneLine, .yellow)
        }
        text.append("\n")
        if report.entries.isEmpty { return text }
        let rows =
            [["ADDRESS", "FROM", "TCP", "TLS", "TOTAL", ""]]
            + report.entries.map { entry in
                let facts = [entry.tlsVersion, entry.applicationProtocol].compactMap { $0 }.joined(separator: " ")
                return [
                    "\(entry.address)", entry.source.rawValue, entry.tcp?.text ?? "-", entry.tls?.text ?? "-",
                    entry.total?.text ?? "-", entry.failure ?? facts,
                ]
            }
        let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for (number, row) in rows.enumerated() {
            let cells = zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                // Words are left-aligned, times right-aligned.
                return column < 2 ? cell.0 + blanks : blanks + cell.0
            }
            text.append(cells.joined(separator: "  "), number == 0 ? .dim : nil)
            if !row[5].isEmpty {
                text.append("  ")
                text.append(row[5].oneLine, report.entries[number - 1].failure == nil ? nil : .red)
            }
            text.append("\n")
        }
        return text
    }
}

extension Duration {
    private var milliseconds: Double { Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15 }

    /// The duration in seconds, rounded to a hundredth of a millisecond.
    fileprivate var jsonSeconds: Double { (milliseconds * 100).rounded() / 100_000 }

    /// The duration for the table, such as `12.3 ms`.
    fileprivate var text: String { "\((milliseconds * 10).rounded() / 10) ms" }
}
