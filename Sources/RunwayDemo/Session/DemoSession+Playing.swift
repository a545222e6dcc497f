#if Command
    import Runway

    /// The steps from which scenes are built.
    extension DemoSession {
        /// Plays parts of the demo, in their order.
        ///
        /// - Parameter parts: The parts to play, except ``DemoPart/signing``, ``DemoPart/addresses``, ``DemoPart/log``,
        ///   ``DemoPart/train``, ``DemoPart/chat``, ``DemoPart/saving``, ``DemoPart/devices``, ``DemoPart/bundles``
        ///   and ``DemoPart/views``, which are separate tours.
        func play(_ parts: [DemoPart]) async throws {
            for part in parts {
                self.part = part
                switch part {
                case .lists: try await openLists()
                case .map: try await openMap()
                case .details: try await openDetails()
                case .cache: try await openADetailAgainAndAgain()
                case .refresh: try await pullRefreshFiveTimes()
                case .sharing: try await refreshAllTabsAtOnce()
                case .filter: try await changeFilterFasterThanTheServerResponds()
                case .leaving: try await leaveAScreenDuringItsCall()
                case .parameters: try await giveABadParameter()
                case .failures: try await meetTrouble()
                case .paging: try await scrollThroughAnEditedList()
                case .merging: try await openAShowroom()
                case .login: try await letATokenExpire()
                case .outage: try await sitOutAnOutage()
                case .signing, .addresses, .log, .train, .chat, .saving, .devices, .bundles, .views: break
                }
            }
        }

        /// Plays one scene, waits for every call of the scene, and stores the screen.
        ///
        /// - Parameters:
        ///   - title: The user's action.
        ///   - unsent: The expected number of calls that do not send their own request, by reason.
        ///   - repeated: The expected number of requests that follow the first request of a call, by reason.
        func scene(
            _ title: String, unsent: [UnsentReason: Int] = [:], repeated: [Repetition: Int] = [:],
            _ play: () async throws -> Void
        ) async throws {
            onScene(title)
            scenes.append(DemoReport.Scene(part: part, title: title, screen: []))
            defer { scenes[scenes.count - 1].screen = screen.lines }
            let first = (calls: expected.count, envelopes: envelopes.count)
            try await play()
            try await landed()
            let calls = calls.dropFirst(first.calls)
            let requests = (calls + envelopes.dropFirst(first.envelopes)).flatMap(\.attempts)
            (scenes[scenes.count - 1].calls, scenes[scenes.count - 1].requests) = (calls.count, requests.count)
            shouldBe(calls.compactMap { UnsentReason($0) }.counted, unsent, "calls without a request")
            shouldBe(calls.flatMap(Repetition.all).counted, repeated, "repeated requests")
        }

        /// Records a call and its expected outcome.
        ///
        /// - Parameter verdict: The expected outcome. For a failure, a colon and the kind of the error follow.
        func call(_ flight: FlightID?, shouldBe verdict: String) {
            let lands = verdict == "succeeded" || verdict.hasPrefix("failed")
            if flight != nil { expected.append(Expectation(verdict: verdict, lands: lands)) }
        }

        /// Waits for a call that should succeed, and checks the screen.
        func call(_ flight: FlightID?, shows listings: [Listing]) async throws {
            call(flight, shouldBe: "succeeded")
            try await landed()
            shouldShow(listings)
        }

        /// Waits for a call that should fail, and checks the error on the screen.
        func call(_ flight: FlightID?, failsAs kind: String, saying words: String = "") async throws {
            call(flight, shouldBe: "failed: \(kind)")
            try await landed()
            shouldShow(error: kind, saying: words)
        }

        /// Lets the backend send its delayed responses, and waits until the app's controllers have received them.
        func releaseResponses() async throws {
            gate.open()
            try await landed()
            gate.close()
        }

        /// Records a call that was made without a manager, and its expected outcome.
        func callWithoutManager(shouldBe verdict: String) {
            expected.append(Expectation(verdict: verdict, lands: false))
        }

        /// Waits until pages are loaded, which may need several calls. All of them should succeed.
        func load(_ load: FlightID?) async throws {
            guard let load else { return note("there was no page to load") }
            try await wait(for: "page \(load) to land") { landings.contains(load) }
            await network.flushRecords()
            for call in calls.dropFirst(expected.count) {
                expected.append(Expectation(verdict: "succeeded", lands: call.id == load))
            }
        }

        /// Waits until every call so far has a record. Also waits until the controllers have received the responses of
        /// all calls that should reach a controller.
        func landed() async throws {
            let landingCount = expected.count { $0.lands }
            try await wait(for: "every call to land") { landings.count >= landingCount }
            await network.flushRecords()
            try await wait(for: "the record of every call") { calls.count >= expected.count }
        }

        /// Runs `play`, and waits until it has caused `count` further requests to a route.
        func arrival(of count: Int = 1, at route: String, _ play: () -> Void) async throws {
            func arrivedCount() -> Int { serving.statistics.routes[route]?.requests ?? 0 }
            let awaited = arrivedCount() + count
            play()
            try await wait(for: "\(count) requests to arrive at \(route)") { arrivedCount() >= awaited }
        }
    }

    /// The checks that scenes make.
    extension DemoSession {
        func note(_ problem: String) {
            problems.append("\(scenes.last?.title ?? ""): \(problem)")
        }

        func shouldBe<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
            if found != wanted { note("\(what): \(found), and should be \(wanted)") }
        }

        /// Checks that a screen shows the rows of these listings.
        func shouldShow(_ listings: [Listing], on other: Screen? = nil) {
            shouldShow(lines: listings.map(\.rowText), on: other)
        }

        /// Checks that a screen shows these lines.
        func shouldShow(lines wanted: [String], on other: Screen? = nil) {
            let found = (other ?? screen).lines
            if found == wanted { return }
            let line = zip(found, wanted).prefix { $0 == $1 }.count
            func text(_ lines: [String]) -> String { line < lines.count ? "\"\(lines[line])\"" : "nothing" }
            note("line \(line + 1) of the screen is \(text(found)), and should be \(text(wanted))")
        }

        /// Checks that the screen shows an error of a kind, and that the detail of this error contains `words`.
        func shouldShow(error kind: String, saying words: String = "") {
            let error = screen.error
            let isWanted = error?.kind.name == kind && (words.isEmpty || error?.detail.contains(words) == true)
            if screen.lines.count == 1, isWanted { return }
            let found = error.map { "\($0.kind): \($0.detail)" } ?? "no error"
            note("the screen shows \(screen.lines) for \(found), and should show that it failed: \(kind) \(words)")
        }
    }
#endif
