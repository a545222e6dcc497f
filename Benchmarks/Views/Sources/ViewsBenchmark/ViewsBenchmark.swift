import Foundation
import RunwayJSON
import RunwayViews

/// The rows of the data, for Foundation.
private struct Screen: Decodable {
    struct Row: Decodable {
        let id: Int
        let title, text, price, tint: String
        let isNew: Bool
    }
    let name: String
    let rows: [Row]
}

@main
@MainActor struct ViewsBenchmark {
    /// The names of the targets that were missed.
    private static var missed: [String] = []

    /// The document of a screen: a title, and a row of eight nodes for each element, in a box or in a list.
    private static func document(_ kind: String) -> [UInt8] {
        Array(
            ##"""
            {"view":{"node":"box","paddingInline":16,"gap":12,"children":[
              {"node":"text","text":"Coupons for {name}","font":"largeTitle","weight":"bold","heading":1},
              {"node":"\##(kind)","children":[
                {"node":"use","template":"row","each":"{rows}","as":"row","key":"{row.id}","with":{"row":"{row}"}}]}]},
             "templates":{"row":{"node":"box","layout":"row","width":"fill","gap":12,"paddingInline":12,"paddingBlock":12,
               "radius":12,"border":{"light":"#d0d7e2","dark":"#3a4657"},"align":"center",
               "on":{"tap":{"name":"open","detail":"{row.id}"}},"children":[
                 {"node":"box","width":44,"height":44,"radius":22,"background":"{row.tint}"},
                 {"node":"box","gap":2,"grow":1,"children":[
                   {"node":"text","text":"{row.title}","weight":"semibold","lines":1},
                   {"node":"text","text":"{row.text}","font":"footnote","lines":2,"color":"#556070"}]},
                 {"node":"text","text":"new","if":"{row.isNew}","color":"#888888"},
                 {"node":"spacer"},
                 {"node":"text","text":"{row.price} €","weight":"bold","width":"content"}]}}}
            """##.utf8)
    }

    private static func data(_ count: Int, changed: Int? = nil) -> [UInt8] {
        let rows = (0..<count).map { index in
            ##"{"id":\##(index),"title":"Coupon \##(index)","text":"At any of our cafés, until Sunday evening","price":"\##(index == changed ? 1 : 4).20","tint":"#b5651d","isNew":\##(index.isMultiple(of: 3))}"##
        }
        return Array(#"{"name":"Ada","rows":[\#(rows.joined(separator: ","))]}"#.utf8)
    }

    static func main() throws {
        let rounds = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 200
        let (text, bytes) = (document("box"), data(30))
        let view = try ViewDocument(text)
        let tree = view.tree(of: try JSONDocument(bytes).root)
        let changed = data(30, changed: 17)
        let json = Data(bytes)
        let decoder = JSONDecoder()
        let list = try ViewDocument(document("list"))
        let many = data(10_000)
        let (long, longer) = (try JSONDocument(many).root, try JSONDocument(data(10_000, changed: 9000)).root)
        let former = list.tree(of: long)

        try measure("30 rows, from bytes to tree", rounds, atMost: 2) {
            _ = try ViewDocument(text).tree(of: try JSONDocument(bytes).root)
        }
        try measure("  of it the document", rounds) { _ = try ViewDocument(text) }
        try measure("30 rows, one changed value: tree and edits", rounds, atMost: 0.3) {
            let next = view.tree(of: try JSONDocument(changed).root, after: tree)
            guard next.edits(since: tree).count == 1 else { fatalError("not one edit") }
        }
        try measure("Foundation: decode the 30 rows", rounds) { _ = try decoder.decode(Screen.self, from: json) }
        try measure("30 rows, tree to HTML", rounds) { _ = tree.html() }
        try measure("list of 10,000 rows, first 30 read", rounds / 10) {
            let children = list.tree(of: long).root.children[1].children
            for index in 0..<30 { _ = children[index] }
        }
        try measure("list of 10,000 rows, one changed: edits", rounds / 10) {
            let next = list.tree(of: longer, after: former)
            guard next.edits(since: former).count == 1 else { fatalError("not one edit") }
        }
        if !missed.isEmpty {
            print("missed: \(missed.joined(separator: ", "))")
            exit(1)
        }
    }

    /// The processor's time, which other programs on the machine lengthen less than the clock's.
    private static func processorMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    /// Prints the processor's time of one call in the best round.
    ///
    /// - Parameter target: The longest time that is wanted, in milliseconds.
    private static func measure(
        _ name: String, _ rounds: Int, atMost target: Double? = nil, _ call: () throws -> Void
    ) throws {
        let times = try (0..<max(rounds, 5)).map { _ in
            let start = processorMilliseconds()
            try call()
            return processorMilliseconds() - start
        }
        let milliseconds = times.min() ?? 0
        if let target, milliseconds > target { missed.append(name) }
        let wanted = target.map { String(format: " (at most %.1f wanted)", $0) } ?? ""
        print(
            name.padding(toLength: 46, withPad: " ", startingAt: 0) + String(format: "%7.3f ms", milliseconds) + wanted)
    }
}
