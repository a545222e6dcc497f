import Testing

@testable import RunwayServer

/// Who is present, on a virtual clock.
struct PresenceTests {
    private func change(_ topic: String, _ member: String, _ isPresent: Bool) -> Presence.Change {
        Presence.Change(topic: topic, member: member, isPresent: isPresent)
    }

    private func presence(upTo count: Int = 100) -> Presence { Presence(grace: .seconds(30), maximumCount: count) }

    @Test func memberJoinsWithTheFirstConnection() {
        var presence = presence()
        let joined = presence.follow(["a", "b"], by: "1", of: "ada", at: .zero)
        #expect(joined == [change("a", "ada", true), change("b", "ada", true)])
        #expect(presence.follow(["a"], by: "2", of: "ada", at: .zero).isEmpty)
        #expect(presence.members(of: "a") == ["ada"] && presence.deadline == nil)
    }

    @Test func memberLeavesAGraceAfterTheLastConnection() {
        var presence = presence()
        _ = presence.follow(["a"], by: "1", of: "ada", at: .zero)
        _ = presence.follow(["a"], by: "2", of: "ada", at: .zero)
        presence.end("1", at: .seconds(10))
        #expect(presence.deadline == nil, "there is another connection")
        presence.end("2", at: .seconds(20))
        presence.end("2", at: .seconds(40))
        #expect(presence.deadline == .seconds(50))
        #expect(presence.tick(at: .seconds(49)).isEmpty && presence.members(of: "a") == ["ada"])
        #expect(presence.tick(at: .seconds(50)) == [change("a", "ada", false)])
        #expect(presence.members(of: "a").isEmpty && presence.deadline == nil && presence.count == 0)
    }

    @Test func connectionThatComesBackInTimeChangesNothing() {
        var presence = presence()
        _ = presence.follow(["a"], by: "1", of: "ada", at: .zero)
        presence.end("1", at: .seconds(10))
        #expect(presence.follow(["a"], by: "2", of: "ada", at: .seconds(39)).isEmpty)
        #expect(presence.tick(at: .seconds(1000)).isEmpty && presence.members(of: "a") == ["ada"])
        presence.end("2", at: .seconds(1000))
        #expect(presence.tick(at: .seconds(1030)).count == 1)
    }

    @Test func unfollowedTopicIsLeft() {
        var presence = presence()
        _ = presence.follow(["a", "b"], by: "1", of: "ada", at: .zero)
        #expect(presence.follow(["b", "c"], by: "1", of: "ada", at: .seconds(5)) == [change("c", "ada", true)])
        #expect(presence.tick(at: .seconds(35)) == [change("a", "ada", false)])
        #expect(presence.members(of: "b") == ["ada"])
    }

    @Test func topicsOfAMemberHaveABound() {
        var presence = Presence(grace: .seconds(30), maximumCount: 100, maximumTopicCount: 2)
        #expect(presence.follow(["a", "b", "c"], by: "1", of: "ada", at: .zero).count == 2)
        #expect(presence.follow(["c"], by: "2", of: "ada", at: .zero).isEmpty)
        #expect(presence.follow(["c"], by: "3", of: "bob", at: .zero) == [change("c", "bob", true)])
        presence.end("1", at: .zero)
        #expect(presence.tick(at: .seconds(30)).count == 2)
        #expect(presence.follow(["d"], by: "4", of: "ada", at: .seconds(30)) == [change("d", "ada", true)])
    }

    @Test func membersHaveABound() {
        var presence = presence(upTo: 2)
        #expect(presence.follow(["a", "b", "c"], by: "1", of: "ada", at: .zero).count == 2)
        #expect(presence.follow(["a"], by: "2", of: "bob", at: .zero).isEmpty)
        presence.end("1", at: .zero)
        _ = presence.tick(at: .seconds(30))
        #expect(presence.count == 0)
        #expect(presence.follow(["a"], by: "3", of: "eve", at: .seconds(30)) == [change("a", "eve", true)])
        presence.end("2", at: .seconds(30))
        #expect(presence.members(of: "a") == ["eve"])
    }
}
