import Glibc
import Synchronization

// Each is declared as its manual page in sections 2 and 3 has it, and calls Glibc's. The name of the page is that of the function.
@discardableResult
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { Glibc.open(path, flags) }
@discardableResult
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    Glibc.open(path, flags, Glibc.mode_t(mode))
}
@discardableResult
public func close(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
@discardableResult
public func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int) -> Int {
    Glibc.read(descriptor, buffer, count)
}
@discardableResult
public func write(_ descriptor: Int32, _ buffer: UnsafeRawPointer!, _ count: Int) -> Int {
    Glibc.write(descriptor, buffer, count)
}
@discardableResult
public func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 {
    var read = Glibc.rlimit()
    let result = Glibc.getrlimit(__rlimit_resource_t(Glibc.RLIMIT_NOFILE.rawValue), &read)
    limit.pointee.rlim_cur = rlim_t(read.rlim_cur)
    limit.pointee.rlim_max = rlim_t(read.rlim_max)
    return resource == RLIMIT_NOFILE ? result : -1
}
@discardableResult
public func pread(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer!, _ count: Int, _ offset: off_t) -> Int {
    Glibc.pread(descriptor, buffer, count, Glibc.off_t(offset))
}
@discardableResult
public func pwrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer!, _ count: Int, _ offset: off_t) -> Int {
    Glibc.pwrite(descriptor, buffer, count, Glibc.off_t(offset))
}
@discardableResult
public func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
    var read = Glibc.stat()
    let result = Glibc.fstat(descriptor, &read)
    status.pointee = stat(read)
    return result
}
@discardableResult
public func lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!) -> Int32 {
    var read = Glibc.stat()
    let result = Glibc.lstat(path, &read)
    status.pointee = stat(read)
    return result
}
@discardableResult
public func fsync(_ descriptor: Int32) -> Int32 { Glibc.fsync(descriptor) }
/// The call with `F_FULLFSYNC`, the only one that this package makes without an argument.
@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 {
    precondition(command == F_FULLFSYNC, "fcntl without an argument is F_FULLFSYNC here.")
    FakeDrive.note(descriptor)
    return Glibc.fsync(descriptor)
}
/// Which files were flushed with `F_FULLFSYNC`.
public enum FakeDrive {
    /// Guards the numbers of the files.
    private static let flushed = Mutex<Set<UInt>>([])

    static func note(_ descriptor: Int32) {
        guard let number = number(descriptor) else { return }
        flushed.withLock { _ = $0.insert(number) }
    }

    /// Whether a file was flushed.
    public static func hasFlushed(_ path: String) -> Bool {
        let descriptor = Glibc.open(path, Glibc.O_RDONLY)
        defer { _ = Glibc.close(descriptor) }
        guard let number = number(descriptor) else { return false }
        return flushed.withLock { $0.contains(number) }
    }

    private static func number(_ descriptor: Int32) -> UInt? {
        var status = Glibc.stat()
        return Glibc.fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : nil
    }
}
@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 {
    Glibc.fcntl(descriptor, command, value)
}
@discardableResult
public func ftruncate(_ descriptor: Int32, _ count: off_t) -> Int32 { Glibc.ftruncate(descriptor, Glibc.off_t(count)) }
@discardableResult
public func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { Glibc.fchmod(descriptor, Glibc.mode_t(mode)) }
@discardableResult
public func chmod(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { Glibc.chmod(path, Glibc.mode_t(mode)) }
@discardableResult
public func unlink(_ path: UnsafePointer<CChar>!) -> Int32 { Glibc.unlink(path) }
@discardableResult
public func link(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!) -> Int32 { Glibc.link(old, new) }
@discardableResult
public func usleep(_ microseconds: UInt32) -> Int32 { Glibc.usleep(microseconds) }
@discardableResult
public func rename(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!) -> Int32 { Glibc.rename(old, new) }
@discardableResult
public func mkdir(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { Glibc.mkdir(path, Glibc.mode_t(mode)) }
// Glibc's name is that of a structure, too.
@discardableResult
@_silgen_name("flock") public func flock(_ descriptor: Int32, _ operation: Int32) -> Int32
public func futimens(_ descriptor: Int32, _ times: UnsafePointer<timespec>!) -> Int32 { Glibc.futimens(descriptor, times) }
@discardableResult
public func mmap(
    _ address: UnsafeMutableRawPointer!, _ count: Int, _ protection: Int32, _ flags: Int32, _ descriptor: Int32, _ offset: off_t
) -> UnsafeMutableRawPointer! { Glibc.mmap(address, count, protection, flags, descriptor, Glibc.off_t(offset)) }
@discardableResult
public func munmap(_ address: UnsafeMutableRawPointer!, _ count: Int) -> Int32 { Glibc.munmap(address, count) }
@discardableResult
public func umask(_ mask: mode_t) -> mode_t { mode_t(truncatingIfNeeded: Glibc.umask(Glibc.mode_t(mask))) }
@discardableResult
public func geteuid() -> uid_t { Glibc.geteuid() }
@discardableResult
public func getpid() -> pid_t { Glibc.getpid() }
@discardableResult
public func kill(_ process: pid_t, _ signal: Int32) -> Int32 { Glibc.kill(process, signal) }
@discardableResult
public func raise(_ signal: Int32) -> Int32 { Glibc.raise(signal) }
@discardableResult
public func signal(_ number: Int32, _ handler: sig_t?) -> sig_t? { nil }
public func exit(_ status: Int32) -> Never { Glibc.exit(status) }
public func _exit(_ status: Int32) -> Never { Glibc._exit(status) }
@discardableResult
public func isatty(_ descriptor: Int32) -> Int32 { Glibc.isatty(descriptor) }
@discardableResult
public func ioctl(_ descriptor: Int32, _ request: UInt, _ value: UnsafeMutableRawPointer) -> Int32 { -1 }
@discardableResult
public func strerror(_ number: Int32) -> UnsafeMutablePointer<CChar>! { Glibc.strerror(number) }
@discardableResult
public func memcmp(_ one: UnsafeRawPointer!, _ other: UnsafeRawPointer!, _ count: Int) -> Int32 {
    Glibc.memcmp(one, other, count)
}
@discardableResult
public func memcpy(
    _ to: UnsafeMutableRawPointer!, _ from: UnsafeRawPointer!, _ count: Int
) -> UnsafeMutableRawPointer! { Glibc.memcpy(to, from, count) }
@discardableResult
public func memchr(_ bytes: UnsafeRawPointer!, _ byte: Int32, _ count: Int) -> UnsafeMutableRawPointer! {
    Glibc.memchr(bytes, byte, count)
}
@discardableResult
public func malloc(_ count: Int) -> UnsafeMutableRawPointer! { Glibc.malloc(count) }
@discardableResult
public func realloc(_ memory: UnsafeMutableRawPointer!, _ count: Int) -> UnsafeMutableRawPointer! {
    Glibc.realloc(memory, count)
}
public func free(_ memory: UnsafeMutableRawPointer!) { Glibc.free(memory) }
@discardableResult
public func strtod(
    _ text: UnsafePointer<CChar>!, _ end: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>!
) -> Double { Glibc.strtod(text, end) }
@discardableResult
public func pow(_ base: Double, _ exponent: Double) -> Double { Glibc.pow(base, exponent) }
@discardableResult
public func log(_ value: Double) -> Double { Glibc.log(value) }
@discardableResult
public func exp(_ value: Double) -> Double { Glibc.exp(value) }
/// For `kern.bootsessionuuid`, the only name that this package asks for.
@discardableResult
public func sysctlbyname(
    _ name: UnsafePointer<CChar>!, _ old: UnsafeMutableRawPointer!, _ oldCount: UnsafeMutablePointer<Int>!,
    _ new: UnsafeMutableRawPointer!, _ newCount: Int
) -> Int32 {
    let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY)
    defer { Glibc.close(file) }
    // Without the line feed at its end, and with a zero there.
    oldCount.pointee = max(0, Glibc.read(file, old, min(36, oldCount.pointee)))
    return oldCount.pointee == 36 ? 0 : -1
}
@discardableResult
public func clock_gettime(_ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 {
    Glibc.clock_gettime(2, time)
}

@discardableResult
public func socket(_ domain: Int32, _ type: Int32, _ protocolNumber: Int32) -> Int32 {
    Glibc.socket(domain, type, protocolNumber)
}
@discardableResult
public func bind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>!, _ count: socklen_t) -> Int32 {
    Glibc.bind(descriptor, address, count)
}
// The manual page listen(2): a backlog of 0 or less is replaced by SOMAXCONN, which Linux does not do.
@discardableResult
public func listen(_ descriptor: Int32, _ backlog: Int32) -> Int32 {
    precondition(backlog > 0, "listen() with a backlog of \(backlog) is SOMAXCONN on Darwin.")
    return Glibc.listen(descriptor, backlog)
}
@discardableResult
public func accept(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>!, _ count: UnsafeMutablePointer<socklen_t>!
) -> Int32 { Glibc.accept(descriptor, address, count) }
@discardableResult
public func connect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>!, _ count: socklen_t) -> Int32 {
    Glibc.connect(descriptor, address, count)
}
@discardableResult
public func getsockname(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>!, _ count: UnsafeMutablePointer<socklen_t>!
) -> Int32 { Glibc.getsockname(descriptor, address, count) }
@discardableResult
public func setsockopt(
    _ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: UnsafeRawPointer!, _ count: socklen_t
) -> Int32 { Glibc.setsockopt(descriptor, level, option, value, count) }
@discardableResult
public func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer!, _ count: Int, _ flags: Int32) -> Int {
    Glibc.send(descriptor, bytes, count, flags)
}
@discardableResult
public func recv(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer!, _ count: Int, _ flags: Int32) -> Int {
    Glibc.recv(descriptor, bytes, count, flags)
}
@discardableResult
public func inet_aton(_ text: UnsafePointer<CChar>!, _ address: UnsafeMutablePointer<in_addr>!) -> Int32 {
    Glibc.inet_aton(text, address)
}
@discardableResult
public func inet_addr(_ text: UnsafePointer<CChar>!) -> UInt32 { Glibc.inet_addr(text) }
@discardableResult
public func inet_pton(_ family: Int32, _ text: UnsafePointer<CChar>!, _ address: UnsafeMutableRawPointer!) -> Int32 {
    Glibc.inet_pton(family, text, address)
}
@discardableResult
public func inet_ntop(
    _ family: Int32, _ address: UnsafeRawPointer!, _ text: UnsafeMutablePointer<CChar>!, _ count: socklen_t
) -> UnsafePointer<CChar>! { Glibc.inet_ntop(family, address, text, count) }
@discardableResult
public func getaddrinfo(
    _ host: UnsafePointer<CChar>!, _ service: UnsafePointer<CChar>!, _ hints: UnsafePointer<addrinfo>!,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>!
) -> Int32 { Glibc.getaddrinfo(host, service, hints, result) }
public func freeaddrinfo(_ list: UnsafeMutablePointer<addrinfo>!) { Glibc.freeaddrinfo(list) }
@discardableResult
public func gai_strerror(_ number: Int32) -> UnsafePointer<CChar>! { Glibc.gai_strerror(number) }
@discardableResult
public func poll(_ requests: UnsafeMutablePointer<pollfd>!, _ count: UInt32, _ time: Int32) -> Int32 {
    Glibc.poll(requests, UInt(count), time)
}
@discardableResult
public func access(_ path: UnsafePointer<CChar>!, _ mode: Int32) -> Int32 { Glibc.access(path, mode) }
@discardableResult
public func mkdtemp(_ template: UnsafeMutablePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
    Glibc.mkdtemp(template)
}
@discardableResult
public func mkstemp(_ template: UnsafeMutablePointer<CChar>!) -> Int32 { Glibc.mkstemp(template) }
@discardableResult
public func realpath(
    _ path: UnsafePointer<CChar>!, _ resolved: UnsafeMutablePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! { Glibc.realpath(path, resolved) }
@discardableResult
public func sched_yield() -> Int32 { Glibc.sched_yield() }
@discardableResult
public func openpty(
    _ outer: UnsafeMutablePointer<Int32>!, _ inner: UnsafeMutablePointer<Int32>!, _ name: UnsafeMutablePointer<CChar>!,
    _ settings: UnsafeMutableRawPointer!, _ size: UnsafeMutablePointer<winsize>!
) -> Int32 { -1 }

// The manual pages dup(2) and tcsetattr(3)
@discardableResult
public func dup(_ descriptor: Int32) -> Int32 { Glibc.dup(descriptor) }
@discardableResult
public func tcgetattr(_ descriptor: Int32, _ settings: UnsafeMutablePointer<termios>!) -> Int32 { -1 }
@discardableResult
public func tcsetattr(_ descriptor: Int32, _ when: Int32, _ settings: UnsafePointer<termios>!) -> Int32 { -1 }

// The manual pages chown(2) and mkfifo(2)
@discardableResult
public func chown(_ path: UnsafePointer<CChar>!, _ owner: uid_t, _ group: gid_t) -> Int32 { Glibc.chown(path, owner, group) }
@discardableResult
public func mkfifo(_ path: UnsafePointer<CChar>!, _ mode: mode_t) -> Int32 { Glibc.mkfifo(path, Glibc.mode_t(mode)) }

// The manual page sysconf(3)
@discardableResult
public func sysconf(_ name: Int32) -> Int { Glibc.sysconf(name) }

// The manual page setuid(2)
@discardableResult
public func setuid(_ user: uid_t) -> Int32 { Glibc.setuid(user) }
@discardableResult
public func setgid(_ group: gid_t) -> Int32 { Glibc.setgid(group) }

// <sys/wait.h>
public struct siginfo_t {
    public init() {}
}
public typealias id_t = UInt32
public struct idtype_t: Sendable {}
public let P_PID = idtype_t()
public var WSTOPPED: Int32 { 8 }
public var WNOWAIT: Int32 { 0x20 }
public func waitid(
    _ kind: idtype_t, _ id: id_t, _ information: UnsafeMutablePointer<siginfo_t>!, _ options: Int32
) -> Int32 { -1 }
