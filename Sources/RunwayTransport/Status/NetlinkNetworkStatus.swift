#if os(Linux)
    import Dispatch
    import Foundation
    import Glibc
    public import Runway
    import Synchronization

    /// The network status of a Linux machine, from the default route of its kernel (rtnetlink).
    ///
    /// There is no network without a default route over a link that is up. A link is Wi-Fi or mobile if the system
    /// marks it as such, and wired otherwise, even if it is virtual. Networks are distinguished by gateway and link.
    /// The status describes the network namespace in which the object is created.
    ///
    /// ```swift
    /// let network = NetworkLayer(transport: transport, status: try NetlinkNetworkStatus())
    /// ```
    public final class NetlinkNetworkStatus: NetworkStatusSource {
        private let status: SettableNetworkStatus
        /// Guards the dispatch source, which is not documented as thread-safe.
        private let source: Mutex<any DispatchSourceRead>

        /// Starts to observe, on its own dispatch queue.
        ///
        /// - Throws: `NetworkError.Kind.invalidConfiguration` if the process may not query the kernel.
        public init() throws(NetworkError) {
            do {
                let asking = try NetlinkSocket(groups: 0)
                // The groups for changes of links, addresses and routes, for IPv4 and IPv6.
                let watching = try NetlinkSocket(groups: 0x1 | 0x10 | 0x40 | 0x100 | 0x400)
                let status = SettableNetworkStatus(try asking.status())
                let source = DispatchSource.makeReadSource(
                    fileDescriptor: watching.descriptor, queue: DispatchQueue(label: "runway.network-status"))
                source.setEventHandler {
                    watching.drain()
                    // If the query fails, the next change queries again.
                    if let current = try? asking.status() { status.set(current) }
                }
                // Retains the descriptor until the dispatch source no longer uses it.
                source.setCancelHandler { withExtendedLifetime(watching) {} }
                source.activate()
                self.status = status
                self.source = Mutex(source)
            } catch {
                let reason = NetworkError.reason(of: error)
                throw NetworkError(
                    .invalidConfiguration, in: .transporting,
                    "The system does not report its network status: \(reason).",
                    underlying: error)
            }
        }

        deinit { source.withLock { $0.cancel() } }

        /// The status that the kernel reported last.
        public var current: NetworkStatus { status.current }

        /// Calls `onChange` after every change, on its own dispatch queue.
        public func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation {
            status.observe(onChange)
        }
    }

    /// A socket to the kernel's tables of links and routes.
    private final class NetlinkSocket: Sendable {
        /// The maximum number of bytes that are read of a table.
        private static let maximumByteCount = 64 << 20

        let descriptor: Int32
        /// The sequence number of the last query, which replies repeat.
        private let sequenceNumber = Atomic<UInt32>(0)

        /// Opens a socket that receives the changes of some groups.
        init(groups: UInt32) throws {
            descriptor = socket(16, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            // struct sockaddr_nl: family, padding, port, groups.
            let address =
                NetlinkMessage.bytes(of: UInt16(16)) + [0, 0] + NetlinkMessage.bytes(of: UInt32(0))
                + NetlinkMessage.bytes(of: groups)
            let isBound = address.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) {
                    bind(descriptor, $0.baseAddress, socklen_t(bytes.count)) == 0
                }
            }
            // struct timeval (seconds, microseconds). The code does not use the type itself, since the module that
            // defines it depends on other imports.
            var timeout = [Int(2), Int(0)]
            let isTimed =
                setsockopt(
                    descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(2 * MemoryLayout<Int>.size)) == 0
            guard isBound, isTimed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }

        deinit { close(descriptor) }

        /// Reads and discards all messages, which only signal a change.
        func drain() {
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            // ENOBUFS reports an overflow of the socket's buffer; reading can continue.
            while recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 || errno == ENOBUFS {
                errno = 0
            }
        }

        /// Queries all links and routes.
        func status() throws -> NetworkStatus {
            var isWhole = false
            var table = RouteTable()
            // A table that changes while it is read is read again, at most three times. The kernel reports later
            // changes anyway.
            for _ in 0..<3 where !isWhole {
                table = RouteTable()
                isWhole = try read(NetlinkMessage.Kind.getLink, &table)
                isWhole = try read(NetlinkMessage.Kind.getRoute, &table) && isWhole
            }
            return table.status(Self.kind)
        }

        /// Reads one table. Returns `false` if the table changed while it was read.
        private func read(_ kind: UInt16, _ table: inout RouteTable) throws -> Bool {
            // The number distinguishes the replies from late replies to an earlier, failed query.
            let sequence = sequenceNumber.wrappingAdd(1, ordering: .relaxed).newValue
            let request = NetlinkMessage.dump(kind, sequence: sequence)
            guard send(descriptor, request, request.count, 0) == request.count else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
            var isWhole = true
            var byteCount = 0
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while byteCount < Self.maximumByteCount {
                let count = recv(descriptor, &bytes, bytes.count, 0)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                byteCount += count
                for message in NetlinkMessage.messages(in: Array(bytes[..<count])) where message.sequence == sequence {
                    if message.flags & NetlinkMessage.interruptedFlag != 0 { isWhole = false }
                    switch message.kind {
                    case NetlinkMessage.Kind.done: return isWhole
                    case NetlinkMessage.Kind.error: throw POSIXError(.EIO)
                    default: table.read(message)
                    }
                }
            }
            throw POSIXError(.EMSGSIZE)
        }

        /// Returns the kind of a link, read from the system's files about it.
        private static func kind(_ name: String) -> NetworkStatus.Link {
            let folder = "/sys/class/net/\(name)"
            if FileManager.default.fileExists(atPath: "\(folder)/wireless") { return .wifi }
            let uevent = (try? String(contentsOfFile: "\(folder)/uevent", encoding: .utf8)) ?? ""
            return uevent.contains("DEVTYPE=wwan") ? .cellular : .wired
        }
    }
#endif
