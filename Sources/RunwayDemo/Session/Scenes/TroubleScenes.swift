#if Command
    import Runway

    extension DemoSession {
        /// Makes a call whose parameters are invalid.
        func giveABadParameter() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("A bad parameter, which never leaves the app", unsent: [.badParameters: 1]) {
                try await call(
                    lists.secondHand.load(SecondHandList(city: "shanghai", page: 0)), failsAs: "invalidParameters",
                    saying: "not from 0")
            }
        }

        /// Calls services that fail in different ways.
        func meetTrouble() async throws {
            let trouble = TroubleController(network: network, screen: screen)
            try await scene("A server that fails") {
                try await call(trouble.failing.load(FailingList(status: 500)), failsAs: "refused", saying: "500")
            }
            try await scene("A server that is overloaded: three attempts in all", repeated: [.retried: 2]) {
                try await call(trouble.failing.load(FailingList(status: 503)), failsAs: "overloaded", saying: "503")
            }
            try await scene("A server that is too slow for this user") {
                try await clock.held {
                    try await arrival(at: "/slow/list") {
                        call(trouble.slow.load(SlowList(delay_ms: 4000)), shouldBe: "failed: timedOut")
                    }
                    clock.advance(by: SlowList.patience)
                    try await landed()
                }
                shouldShow(error: "timedOut")
            }
            try await scene("A response that ends before it is complete") {
                try await call(
                    trouble.truncated.load(TruncatedList()), failsAs: "invalidResponse",
                    saying: "the end of the document")
            }
            try await scene("Status 200, and an error of the service's own inside") {
                try await call(
                    trouble.envelope.load(FailingEnvelope(error: "unknown_place")), failsAs: "service", saying: "1001")
            }
            try await scene("Status 200, and inside: log in again") {
                try await call(trouble.envelope.load(FailingEnvelope(error: "login_required")), failsAs: "needsLogin")
            }
            screen.show([])
            try await scene("An error that is not the business's affair: absorbed, the screen stays") {
                call(trouble.envelope.load(FailingEnvelope(error: "housekeeping")), shouldBe: "absorbed")
                try await landed()
                shouldShow([])
            }
        }

        /// Calls an endpoint that fails and recovers. Its circuit stays open until the session lets it close.
        func sitOutAnOutage() async throws {
            let lists = ListController(network: network, screen: screen)
            // The call has only one attempt.
            let once = CallOptions(retry: .off)
            try await clock.held {
                var rest = Duration.zero
                try await scene("An endpoint goes down: five calls fail, and its circuit is opened") {
                    backend.isDown = true
                    let first = expected.count
                    for city in City.all {
                        try await call(
                            lists.newHomes.load(NewHomesList(city: city.code), options: once), failsAs: "overloaded",
                            saying: "503")
                    }
                    let decisions = calls.dropFirst(first).flatMap { $0.decisions(of: AdmissionDecision.self) }
                    let rests = decisions.compactMap { if case .opened(_, _, let time) = $0 { time } else { nil } }
                    shouldBe(rests.count, 1, "openings of the circuit")
                    rest = rests.first ?? .zero
                }
                try await scene(
                    "Its circuit is open: three calls fail at once, and nothing is sent", unsent: [.circuitOpen: 3]
                ) {
                    for city in City.all.prefix(3) {
                        try await call(
                            lists.newHomes.load(NewHomesList(city: city.code), options: once), failsAs: "unavailable",
                            saying: "keeps failing")
                    }
                }
                backend.isDown = false
                clock.advance(by: rest)
                try await scene("The endpoint is back: one call looks, and the circuit is closed") {
                    let first = expected.count
                    try await call(
                        lists.newHomes.load(NewHomesList(city: "beijing"), options: once),
                        shows: catalogue.first(5, of: .newHome, city: "beijing"))
                    try await call(
                        lists.rentals.load(RentalList(city: "beijing"), options: once),
                        shows: catalogue.first(5, of: .rental, city: "beijing"))
                    let probes = calls.dropFirst(first).map { $0.decisions(of: AdmissionDecision.self).count }
                    shouldBe(probes, [1, 0], "calls that test whether the host has recovered")
                }
            }
        }

        /// Invalidates a token while calls with it are in flight.
        func letATokenExpire() async throws {
            let favourites = PartsController<Favourites>(network: network, screen: screen) { $0.folder }
            try await scene("A user who logs in, and opens a folder of favourites") {
                callWithoutManager(shouldBe: "succeeded")
                let response = try await network.call(MemberLogin(name: "mei"))
                guard let token = try? AccessToken(response, account: "mei", on: network) else {
                    return note("the login returned no access token")
                }
                try await network.signIn(token, to: MemberService.self)
                try await call(favourites.parts.load(Favourites(folder: 1)), shows: rentals(of: 1...1))
            }
            let folders = MemberAPI.folders
            try await scene(
                "Ten calls are in flight when the access token expires: one renewal, ten requests sent again",
                repeated: [.newToken: folders.count]
            ) {
                try await arrival(of: folders.count, at: "/member/favourites") {
                    for folder in folders {
                        call(favourites.parts.load(Favourites(folder: folder, delay: 4000)), shouldBe: "succeeded")
                    }
                }
                backend.tokens.expireAll()
                // The layer renews the token with one call.
                callWithoutManager(shouldBe: "succeeded")
                try await releaseResponses()
                shouldShow(rentals(of: folders))
                shouldBe(serving.statistics.routes["/member/token"]?.requests ?? 0, 1, "renewals of the access token")
            }
        }

        private func rentals(of folders: ClosedRange<Int>) -> [Listing] {
            folders.flatMap { folder in catalogue[.rental].filter { $0.number % 10 == folder % 10 }.prefix(3) }
        }
    }
#endif
