import Testing

/// Calls of the system that do something else on Apple's systems than on Linux.
struct SystemCallTests {
    /// Darwin replaces a backlog of 0 by the largest one, and Linux does not: a port that is meant to accept none accepts some there.
    @Test func noSocketListensWithABacklogOfZero() throws {
        for file in try Project.files(in: "Sources", "Tests", endingIn: [".swift", ".c", ".h"]) {
            for (number, line) in file.lines.enumerated() {
                #expect(!listensWithoutBacklog(line), "\(file.path):\(number + 1) listens with a backlog of 0")
            }
        }
    }

    @Test(arguments: [
        ("LISTEN(socket, 0)", true), ("guard Glibc.LISTEN(descriptor,0) == 0", true), ("LISTEN(listener, 1)", false),
        ("LISTEN(socket, 0x10)", false), ("  // LISTEN(socket, 0)", false), ("hub.LISTEN(to: id, 0)", false),
    ])
    func backlogOfZeroIsFound(_ line: String, _ isFound: Bool) {
        #expect(listensWithoutBacklog(line.lowercased()[...]) == isFound)
    }

    private func listensWithoutBacklog(_ line: Substring) -> Bool {
        if !line.contains("listen(") || line.drop(while: { $0 == " " }).hasPrefix("//") { return false }
        return line.contains(/(?:^|\W)listen\(\w+, ?0\)/)
    }
}
