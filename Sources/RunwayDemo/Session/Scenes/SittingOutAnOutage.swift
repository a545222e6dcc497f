#if Command
    import Runway

    extension DemoSession {
        /// An endpoint that fails and recovers.
        func sitOutAnOutage() async throws {
            // The circuit is open until the session advances the clock.
            try await clock.held { try await sitOutAnOutageAtOnce() }
        }

        private func sitOutAnOutageAtOnce() async throws {
            let lists = ListController(network: network, screen: screen)
            // The user can wait no longer than for one attempt.
            let once = CallOptions(retry: .off)
            var rest = Duration.zero
            try await scene("An endpoint goes down: five calls fail, and its circuit is opened") {
                backend.outage.begin()
                let first = expected.count
                for city in City.all {
                    call(
                        lists.newHomes.load(NewHomesList(city: city.code), options: once),
                        shouldBe: "failed: overloaded")
                    try await landed()
                    shouldShow(error: "overloaded", saying: "503")
                }
                let decisions = board.calls.dropFirst(first).flatMap { $0.decisions(of: AdmissionDecision.self) }
                let rests = decisions.compactMap { if case .opened(_, _, let time) = $0 { time } else { nil } }
                shouldBe(rests.count, 1, "openings of the circuit")
                rest = rests.first ?? .zero
            }
            try await scene(
                "Its circuit is open: three calls fail at once, and nothing is sent", unsent: [.circuitOpen: 3]
            ) {
                for city in City.all.prefix(3) {
                    call(
                        lists.newHomes.load(NewHomesList(city: city.code), options: once),
                        shouldBe: "failed: unavailable")
                    try await landed()
                }
                shouldShow(error: "unavailable", saying: "keeps failing")
            }
            backend.outage.end()
            clock.advance(by: rest)
            try await scene("The endpoint is back: one call looks, and the circuit is closed") {
                let first = expected.count
                call(lists.newHomes.load(NewHomesList(city: "beijing"), options: once), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.first(5, of: .newHome, city: "beijing"))
                call(lists.rentals.load(RentalList(city: "beijing"), options: once), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.first(5, of: .rental, city: "beijing"))
                let probes = board.calls.dropFirst(first).map { $0.decisions(of: AdmissionDecision.self).count }
                shouldBe(probes, [1, 0], "calls that test whether the host has recovered")
            }
        }
    }
#endif
