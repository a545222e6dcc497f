import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdHTTP2
import Logging
import NIOCore
import RunwayDemo

/// Runs a check, prints its findings, and exits with a code that the command's help lists.
///
/// - Parameter check: Returns the problems, one sentence each.
func reporting(_ check: () async throws -> [String]) async throws {
    let findings: [String]
    do {
        findings = try await check()
    } catch {
        FileHandle.standardError.write(Data("The test failed: \(error)\n".utf8))
        throw ExitCode(2)
    }
    for finding in findings.prefix(20) { print(finding) }
    if !findings.isEmpty { throw ExitCode(1) }
}

/// Compares the numbers that arrived at the server with the numbers of the client. Returns the problems, one sentence
/// each.
///
/// - Parameters:
///   - name: The name of the client.
///   - arrived: The numbers of each account, in the order of their arrival.
///   - offered: The numbers that the client made, or may have made.
///   - durable: The numbers that were acknowledged to the client.
///   - isOrdered: Returns whether a number must arrive in order.
func problems(
    of name: String, _ arrived: [String: [Int]], offered: Set<Int>, durable: Set<Int>,
    isOrdered: (Int) -> Bool = { _ in true }
) -> [String] {
    var problems: [String] = []
    let all = arrived.values.flatMap { $0 }
    let unique = Set(all)
    if unique.count < all.count { problems.append("\(name): \(all.count - unique.count) came twice.") }
    let (missing, invented) = (durable.subtracting(unique).sorted(), unique.subtracting(offered).sorted())
    if let first = missing.first {
        problems.append("\(name): \(missing.count) were acknowledged and are missing, the first is \(first).")
    }
    if let first = invented.first {
        problems.append("\(name): \(invented.count) were never made, such as \(first).")
    }
    for (account, numbers) in arrived {
        let order = numbers.filter(isOrdered)
        if let place = zip(order, order.dropFirst()).first(where: { $0 >= $1 }) {
            problems.append("\(name), account \"\(account)\": \(place.1) comes after \(place.0).")
        }
    }
    return problems
}

/// Writes a line, unbuffered, to the process that started this one.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

extension Router where Context == BasicRequestContext {
    /// Serves on the loopback interface until the process is killed. Uses HTTP/2 with a certificate, or else HTTP/1.1.
    ///
    /// - Parameters:
    ///   - port: The port; 0 lets the system choose a free one.
    ///   - onServing: Called with the port when the server listens.
    func serve(
        at port: Int, with certificate: DemoCertificate? = nil, onServing: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        let application = Application(
            router: self,
            server: try certificate.map { try .http2Upgrade(tlsConfiguration: $0.serverConfiguration()) } ?? .http1(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { onServing($0.localAddress?.port ?? 0) },
            logger: Logger(label: "crash-test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.run()
    }
}

extension ChildProcess {
    /// Reads the numbers from the line that a server prints when it is ready.
    func numbers(count: Int) async throws -> [Int] {
        let numbers = await nextLine()?.split(separator: " ").compactMap { Int($0) } ?? []
        guard numbers.count == count else { throw CrashFailure("the server did not start") }
        return numbers
    }
}

/// An error that ends the test.
struct CrashFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
