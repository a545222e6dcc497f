import Foundation

// Measures every way from a listing response to rows, all in one run, and prints medians and ratios.
//
// Usage: JSONBenchmark [--simdjson PROGRAM]
//        JSONBenchmark --profile PEER SECONDS        repeats one peer on the large document, for a profiler
//        JSONBenchmark --memory PEER                 prints by how many KiB one pass on the large document grew the process

let arguments = CommandLine.arguments
let documents = [("42 KB", ListingDocument.bytes(itemCount: 30)), ("1.4 MB", ListingDocument.bytes(itemCount: 1000))]

switch arguments.dropFirst().first {
case "--profile":
    guard arguments.count == 4, let peer = Peer.all.first(where: { $0.name == arguments[2] }),
        let seconds = Double(arguments[3])
    else { exit(2) }
    let bytes = documents[1].1
    let data = Data(bytes)
    let end = Date().addingTimeInterval(seconds)
    while Date() < end { _ = try peer.read(bytes, data) }
case "--memory":
    guard arguments.count == 3, let peer = Peer.all.first(where: { $0.name == arguments[2] }) else { exit(2) }
    print(try MemoryGrowth.kibibytes(of: peer, documents[1].1))
default:
    let program = arguments.count > 2 && arguments[1] == "--simdjson" ? arguments[2] : nil
    try Comparison(documents: documents, simdjson: program).run()
}
