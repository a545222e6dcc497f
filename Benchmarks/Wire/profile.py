"""Lays the processor's time of several contenders side by side, by what it was spent on.

    profile.py NAME REPORT SAMPLES [NAME REPORT SAMPLES]...

A report is what `WireBenchmark throughput` printed of one contender; samples are what `perf script -F ip,sym,dso` prints. Every
sample counts for the function that it fell into, and in the kernel for the system call that led there. The shares are of the
whole process, with its start.
"""

import collections
import re
import sys

FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")
SYSTEM_CALL = re.compile(r"^(?:__(?:x64|arm64|se)_sys_|ksys_|__sys_)(\w+)$")

AREAS = [
    "kernel: sending", "kernel: receiving", "kernel: waiting", "kernel: waking threads", "kernel: other",
    "TLS", "HTTP/2 frames, HPACK", "event loops, channel pipelines", "libcurl",
    "Swift tasks", "Swift runtime, retain and release", "Swift standard library", "Foundation",
    "malloc and free", "copying bytes", "locks", "system libraries",
    "Runway's transport", "Runway's layer", "the benchmark", "other",
]
SYSTEM_CALLS = {
    "kernel: sending": ("write", "writev", "sendto", "sendmsg", "sendmmsg"),
    "kernel: receiving": ("read", "readv", "recvfrom", "recvmsg", "recvmmsg"),
    "kernel: waiting": ("epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl", "poll", "ppoll", "select"),
    "kernel: waking threads": ("futex", "futex_wait", "futex_wake"),
}
LIBRARIES = [
    ("libcurl", "libcurl"), ("libnghttp2", "HTTP/2 frames, HPACK"), ("libssl", "TLS"), ("libcrypto", "TLS"),
    ("libswift_Concurrency", "Swift tasks"), ("libdispatch", "Swift tasks"), ("libFoundation", "Foundation"),
    ("lib_Foundation", "Foundation"),
]
# Swift's symbols begin with the module, after its length.
MODULES = {
    "NIOSSL": "TLS", "CNIOBoringSSL": "TLS", "Crypto": "TLS", "X509": "TLS",
    "NIOHPACK": "HTTP/2 frames, HPACK", "NIOHTTP2": "HTTP/2 frames, HPACK", "NIOHTTP1": "HTTP/2 frames, HPACK",
    "NIOCore": "event loops, channel pipelines", "NIOPosix": "event loops, channel pipelines",
    "NIOEmbedded": "event loops, channel pipelines", "NIOTLS": "event loops, channel pipelines",
    "NIOConcurrencyHelpers": "locks", "Synchronization": "locks",
    "RunwayTransport": "Runway's transport", "Runway": "Runway's layer", "HTTPTypes": "Runway's transport",
    "AsyncHTTPClient": "AsyncHTTPClient", "WireBenchmark": "the benchmark",
}
BENCHMARK = ("curl_client_run", "curl_client_make", "receive", "begin", "main", "WireBenchmark_main")


def of_library(name):
    """The area of a symbol of the system's libraries."""
    if re.search(r"alloc|free|malloc|arena|tcache|calloc", name):
        return "malloc and free"
    if re.search(r"mem(cpy|move|set|cmp|chr)", name):
        return "copying bytes"
    if re.search(r"mutex|lll_lock|rwlock|futex", name):
        return "locks"
    return "system libraries"


def of_benchmark(name):
    """The area of a symbol of the benchmark's own executable, into which all packages are linked."""
    if name.startswith("$s"):
        places = [(name.find(f"{len(module)}{module}"), area) for module, area in MODULES.items()]
        places = [place for place in places if place[0] >= 0]
        return min(places)[1] if places else "Swift standard library"
    if re.match(r"_*swift_|symbolic|get_type_metadata|block_(copy|destroy)", name):
        return "Swift runtime, retain and release"
    if re.match(r"_?(c_?nio|catomics|cnio)", name, re.IGNORECASE) and "BoringSSL" not in name:
        return "event loops, channel pipelines"
    if name in BENCHMARK:
        return "the benchmark"
    # The one large library of C among the packages.
    return "other" if name == "[unknown]" else "TLS"


def area(frames):
    """The area of a sample: frames of symbol and library, the innermost first."""
    name, path = frames[0]
    library = path.rsplit("/", 1)[-1]
    if library.startswith("[kernel") or library.endswith((".ko", "vmlinux")):
        names = [name for name, path in frames if path.startswith("[")]
        if any(name.startswith("eventfd_") for name in names):
            return "kernel: waking threads"
        calls = [match[1] for match in map(SYSTEM_CALL.match, names) if match]
        for kernel, own in SYSTEM_CALLS.items():
            if any(call in own for call in calls):
                return kernel
        return "kernel: other"
    for start, own in LIBRARIES:
        if library.startswith(start):
            return own
    if library.startswith("libswiftSynchronization"):
        return "locks"
    if library.startswith("libswift"):
        return "Swift standard library" if name.startswith("$s") else "Swift runtime, retain and release"
    if library == "WireBenchmark":
        return of_benchmark(name)
    return of_library(name) if library != "[unknown]" else "other"


def samples(path):
    """The frames of every sample."""
    frames = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            frame = FRAME.match(line)
            if frame:
                frames.append((frame[1], frame[2]))
            elif frames:
                yield frames
                frames = []
    if frames:
        yield frames


def main(arguments):
    names, columns, hottest = [], [], []
    for name, report, path in zip(arguments[0::3], arguments[1::3], arguments[2::3]):
        counts, symbols = collections.Counter(), collections.Counter()
        for frames in samples(path):
            own = area(frames)
            counts[own] += 1
            symbols[(frames[0][1].rsplit("/", 1)[-1], frames[0][0])] += 1
        total = sum(counts.values())
        with open(report, encoding="utf-8") as text:
            spent = re.search(r"([0-9.]+) µs CPU", text.read())
        if total == 0 or not spent:
            sys.exit(f"profile.py: nothing was measured of {name}")
        spent = float(spent[1])
        names.append(f"{name}: {spent:.1f} µs")
        columns.append({own: (count / total * spent, count / total) for own, count in counts.items()})
        hottest.append([(count / total, library, symbol) for (library, symbol), count in symbols.most_common(15)])
    print("the processor's time of a call, by what it went to".ljust(36) + "".join(name.rjust(28) for name in names))
    others = sorted({own for column in columns for own in column} - set(AREAS))
    for own in AREAS + others:
        if any(own in column for column in columns):
            cells = [column.get(own, (0, 0)) for column in columns]
            print(f"  {own}".ljust(50) + "".join(f"{time:9.1f} µs {share:6.1%}".ljust(28) for time, share in cells).rstrip())
    for name, rows in zip(names, hottest):
        print(f"the functions that took most of {name}")
        for share, library, symbol in rows:
            print(f"  {share:6.1%}  {library}  {symbol}")
    print()


main(sys.argv[1:])
