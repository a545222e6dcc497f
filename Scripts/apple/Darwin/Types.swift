import Glibc

// Types that Darwin and Glibc declare with the same members, as far as this package uses them.
@_exported import struct Glibc.addrinfo
@_exported import struct Glibc.in6_addr
@_exported import struct Glibc.in_addr
@_exported import struct Glibc.pollfd
// One byte on Darwin; the members of the structures above are Glibc's.
@_exported import typealias Glibc.sa_family_t
@_exported import struct Glibc.sockaddr
@_exported import struct Glibc.sockaddr_in
@_exported import struct Glibc.sockaddr_in6
@_exported import struct Glibc.timespec
@_exported import struct Glibc.timeval
@_exported import struct Glibc.winsize

// The manual page getrlimit(2)
public typealias rlim_t = UInt64
public struct rlimit {
    public var rlim_cur: rlim_t
    public var rlim_max: rlim_t

    public init() { (rlim_cur, rlim_max) = (0, 0) }
}

// developer.apple.com: Darwin; the manual pages stat(2), open(2), types(5)
public typealias mode_t = UInt16
public typealias off_t = Int64
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias pid_t = Int32
public typealias dev_t = Int32
public typealias ino_t = UInt64
public typealias nlink_t = UInt16
public typealias blkcnt_t = Int64
public typealias blksize_t = Int32
public typealias socklen_t = UInt32
public typealias in_port_t = UInt16
public typealias clockid_t = UInt32
public typealias sig_t = @convention(c) (Int32) -> Void

// developer.apple.com: stat; the manual page stat(2)
public struct stat {
    public var st_dev: dev_t = 0
    public var st_mode: mode_t = 0
    public var st_nlink: nlink_t = 0
    public var st_ino: ino_t = 0
    public var st_uid: uid_t = 0
    public var st_gid: gid_t = 0
    public var st_rdev: dev_t = 0
    public var st_atimespec = timespec()
    public var st_mtimespec = timespec()
    public var st_ctimespec = timespec()
    public var st_birthtimespec = timespec()
    public var st_size: off_t = 0
    public var st_blocks: blkcnt_t = 0
    public var st_blksize: blksize_t = 0
    public var st_flags: UInt32 = 0
    public var st_gen: UInt32 = 0
    public init() {}
}

extension stat {
    public init(_ status: Glibc.stat) {
        st_dev = dev_t(truncatingIfNeeded: status.st_dev)
        st_mode = mode_t(truncatingIfNeeded: status.st_mode)
        st_ino = ino_t(status.st_ino)
        st_uid = status.st_uid
        st_gid = status.st_gid
        st_mtimespec = status.st_mtim
        st_size = off_t(status.st_size)
    }
}

// The manual page termios(4); the members that are used.
public typealias tcflag_t = UInt

public struct termios {
    public var c_lflag: tcflag_t = 0

    public init() {}
}

// The manual page uuid(3)
public typealias uuid_t = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)
