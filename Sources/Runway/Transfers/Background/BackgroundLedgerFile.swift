import Foundation
import Synchronization

/// The ledger of a background session, in a file that only the user may read. Each change is written to disk before the
/// call returns.
final class BackgroundLedgerFile: Sendable {
    private let path: String
    /// Guards the ledger and its file, so that changes are written in order.
    private let ledger: Mutex<BackgroundLedger>

    /// Reads the ledger of earlier launches, if there is one.
    ///
    /// - Throws: ``NetworkError/Kind/storage`` if the file can't be read or is malformed. The app may remove the file;
    ///   the progress and the ends of its transfers are then not reported.
    init(_ path: String) throws(NetworkError) {
        self.path = path
        do throws(FileError) {
            guard let bytes = try PrivateFile(reading: path)?.read(upTo: BackgroundLedger.maximumByteCount) else {
                ledger = Mutex(BackgroundLedger())
                return
            }
            guard let stored = BackgroundLedger(json: bytes) else {
                throw FileError(path, "can't be read", reason: "it does not list background transfers")
            }
            ledger = Mutex(stored)
        } catch {
            throw NetworkError(error, in: .preparing)
        }
    }

    var current: BackgroundLedger { ledger.withLock { $0 } }

    /// Changes the ledger and writes it. If writing fails, the change is still effective until the process ends.
    ///
    /// - Throws: The errors of `body`, and ``NetworkError/Kind/storage`` if the file can't be written.
    func change<Value>(_ body: (inout BackgroundLedger) throws(NetworkError) -> Value) throws(NetworkError) -> Value {
        let result: Result<Value, NetworkError> = ledger.withLock { ledger in
            do throws(NetworkError) {
                let before = ledger
                let value = try body(&ledger)
                if ledger != before { try write(ledger) }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func write(_ ledger: BackgroundLedger) throws(NetworkError) {
        do throws(FileError) {
            guard let json = try? ledger.json else { preconditionFailure("a ledger can be encoded") }
            try PrivateFile.replace(path, with: json)
        } catch {
            throw NetworkError(error, in: .preparing)
        }
    }
}
