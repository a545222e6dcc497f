import Glibc

// The manual page open(2). Values are those of the system that runs the fakes' program.
public var O_RDONLY: Int32 { Glibc.O_RDONLY }
public var O_WRONLY: Int32 { Glibc.O_WRONLY }
public var O_RDWR: Int32 { Glibc.O_RDWR }
public var O_APPEND: Int32 { Glibc.O_APPEND }
public var O_CREAT: Int32 { Glibc.O_CREAT }
public var O_EXCL: Int32 { Glibc.O_EXCL }
public var O_TRUNC: Int32 { Glibc.O_TRUNC }
public var O_NOFOLLOW: Int32 { Glibc.O_NOFOLLOW }
public var O_NONBLOCK: Int32 { Glibc.O_NONBLOCK }
public var O_CLOEXEC: Int32 { Glibc.O_CLOEXEC }
// <sys/fcntl.h>
public var O_EVTONLY: Int32 { 0x8000 }

// The manual pages stat(2), flock(2), fcntl(2)
public var S_IFMT: mode_t { 0o170000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFLNK: mode_t { 0o120000 }
public var LOCK_SH: Int32 { Glibc.LOCK_SH }
public var LOCK_EX: Int32 { Glibc.LOCK_EX }
public var LOCK_NB: Int32 { Glibc.LOCK_NB }
public var LOCK_UN: Int32 { Glibc.LOCK_UN }
public var F_SETFL: Int32 { Glibc.F_SETFL }
public var F_FULLFSYNC: Int32 { 51 }

// The manual page mmap(2)
public var PROT_READ: Int32 { Glibc.PROT_READ }
public var PROT_WRITE: Int32 { Glibc.PROT_WRITE }
public var MAP_SHARED: Int32 { Glibc.MAP_SHARED }
public var MAP_FAILED: UnsafeMutableRawPointer! { Glibc.MAP_FAILED }

// The manual page intro(2)
public var errno: Int32 {
    get { Glibc.errno }
    set { Glibc.errno = newValue }
}
public var EPERM: Int32 { Glibc.EPERM }
public var ENOENT: Int32 { Glibc.ENOENT }
public var EINTR: Int32 { Glibc.EINTR }
public var EBADF: Int32 { Glibc.EBADF }
public var EAGAIN: Int32 { Glibc.EAGAIN }
public var EWOULDBLOCK: Int32 { Glibc.EWOULDBLOCK }
public var EACCES: Int32 { Glibc.EACCES }
public var EEXIST: Int32 { Glibc.EEXIST }
public var ENOTDIR: Int32 { Glibc.ENOTDIR }
public var EISDIR: Int32 { Glibc.EISDIR }
public var EINVAL: Int32 { Glibc.EINVAL }
public var ENOSPC: Int32 { Glibc.ENOSPC }
public var EDQUOT: Int32 { Glibc.EDQUOT }
public var EROFS: Int32 { Glibc.EROFS }
public var EPIPE: Int32 { Glibc.EPIPE }
public var ENOTTY: Int32 { Glibc.ENOTTY }
public var ENOTSUP: Int32 { Glibc.ENOTSUP }
public var EOPNOTSUPP: Int32 { Glibc.EOPNOTSUPP }
public var ELOOP: Int32 { Glibc.ELOOP }
public var EMSGSIZE: Int32 { Glibc.EMSGSIZE }
public var EADDRINUSE: Int32 { Glibc.EADDRINUSE }
public var EADDRNOTAVAIL: Int32 { Glibc.EADDRNOTAVAIL }
public var ENETDOWN: Int32 { Glibc.ENETDOWN }
public var ENETUNREACH: Int32 { Glibc.ENETUNREACH }
public var EHOSTDOWN: Int32 { Glibc.EHOSTDOWN }
public var EHOSTUNREACH: Int32 { Glibc.EHOSTUNREACH }
public var ECONNABORTED: Int32 { Glibc.ECONNABORTED }
public var ECONNRESET: Int32 { Glibc.ECONNRESET }
public var ECONNREFUSED: Int32 { Glibc.ECONNREFUSED }
public var EINPROGRESS: Int32 { Glibc.EINPROGRESS }
public var ETIMEDOUT: Int32 { Glibc.ETIMEDOUT }
public var ENOBUFS: Int32 { Glibc.ENOBUFS }
public var EMFILE: Int32 { Glibc.EMFILE }
public var ENFILE: Int32 { Glibc.ENFILE }
public var ENOMEM: Int32 { Glibc.ENOMEM }

// The manual page getrlimit(2); the number is that of Darwin's sys/resource.h.
public var RLIMIT_NOFILE: Int32 { 8 }

// The manual pages signal(3), socket(2), setsockopt(2), tty(4), clock_gettime(3)
public var SIGINT: Int32 { Glibc.SIGINT }
public var SIGTERM: Int32 { Glibc.SIGTERM }
public var SIGKILL: Int32 { Glibc.SIGKILL }
public var SIGPIPE: Int32 { Glibc.SIGPIPE }
public var SIGSTOP: Int32 { Glibc.SIGSTOP }
public var SIGCONT: Int32 { Glibc.SIGCONT }
public var SIG_IGN: sig_t? { nil }
public var SIG_DFL: sig_t? { nil }
public var AF_INET: Int32 { Glibc.AF_INET }
public var AF_INET6: Int32 { Glibc.AF_INET6 }
public var AF_UNSPEC: Int32 { 0 }
public var SOCK_STREAM: Int32 { 1 }
public var SOL_SOCKET: Int32 { Glibc.SOL_SOCKET }
public var SO_REUSEADDR: Int32 { Glibc.SO_REUSEADDR }
public var SO_RCVTIMEO: Int32 { Glibc.SO_RCVTIMEO }
public var SOMAXCONN: Int32 { 128 }
public var INET6_ADDRSTRLEN: Int32 { 46 }
public var INET_ADDRSTRLEN: Int32 { 16 }
public var STDIN_FILENO: Int32 { 0 }
public var STDOUT_FILENO: Int32 { 1 }
public var STDERR_FILENO: Int32 { 2 }
public var TIOCGWINSZ: UInt { 0x4008_7468 }
public var POLLIN: Int32 { 1 }
public var POLLOUT: Int32 { 4 }
public var R_OK: Int32 { 4 }
public var W_OK: Int32 { 2 }
public var CLOCK_MONOTONIC: clockid_t { 6 }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { 16 }
public var EXIT_SUCCESS: Int32 { 0 }
public var EXIT_FAILURE: Int32 { 1 }

// The manual pages open(2), stat(2), termios(4) and tcsetattr(3)
public var O_NOCTTY: Int32 { Glibc.O_NOCTTY }
public var S_IFIFO: mode_t { 0o010000 }
public var S_IFSOCK: mode_t { 0o140000 }
public var ECHO: Int32 { 0x8 }
public var ECHONL: Int32 { 0x10 }
public var TCSAFLUSH: Int32 { 2 }

// The manual page sysconf(3), and unistd.h
public var _SC_CLK_TCK: Int32 { Int32(Glibc._SC_CLK_TCK) }
