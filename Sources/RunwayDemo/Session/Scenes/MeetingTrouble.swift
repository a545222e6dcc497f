#if Command
    import Runway

    extension DemoSession {
        /// A call that can't be made.
        func giveABadParameter() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("A bad parameter, which never leaves the app", unsent: [.badParameters: 1]) {
                call(
                    lists.secondHand.load(SecondHandList(city: "shanghai", page: 0)),
                    shouldBe: "failed: invalidParameters")
                try await landed()
                shouldShow(error: "invalidParameters", saying: "not from 0")
            }
        }

        /// Services that fail, each in its own way.
        func meetTrouble() async throws {
            let trouble = TroubleController(network: network, screen: screen)
            try await scene("A server that fails") {
                call(trouble.failing.load(FailingList(status: 500)), shouldBe: "failed: refused")
                try await landed()
                shouldShow(error: "refused", saying: "500")
            }
            try await scene("A server that is overloaded: three attempts in all", repeated: [.retried: 2]) {
                call(trouble.failing.load(FailingList(status: 503)), shouldBe: "failed: overloaded")
                try await landed()
                shouldShow(error: "overloaded", saying: "503")
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
                call(trouble.truncated.load(TruncatedList()), shouldBe: "failed: invalidResponse")
                try await landed()
                shouldShow(error: "invalidResponse", saying: "the end of the document")
            }
            try await scene("Status 200, and an error of the service's own inside") {
                call(trouble.envelope.load(FailingEnvelope(error: "unknown_place")), shouldBe: "failed: service")
                try await landed()
                shouldShow(error: "service", saying: "1001")
            }
            try await scene("Status 200, and inside: log in again") {
                call(trouble.envelope.load(FailingEnvelope(error: "login_required")), shouldBe: "failed: needsLogin")
                try await landed()
                shouldShow(error: "needsLogin")
            }
            screen.show([])
            try await scene("An error that is not the business's affair: absorbed, the screen stays") {
                call(trouble.envelope.load(FailingEnvelope(error: "housekeeping")), shouldBe: "absorbed")
                try await landed()
                shouldShow([])
            }
        }
    }
#endif
