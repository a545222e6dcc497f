#if Command
    import Runway

    extension DemoSession {
        /// A home that there is, and one that there is not.
        func openDetails() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("A home that there is") {
                call(lists.detail.load(SecondHandDetail(id: "E100007")), shouldBe: "succeeded")
                try await landed()
                shouldShow(catalogue.secondHand.filter { $0.number == 7 })
            }
            try await scene("A home that there is not") {
                call(lists.detail.load(SecondHandDetail(id: "E000000")), shouldBe: "failed: service")
                try await landed()
                shouldShow(error: "service", saying: "1404")
            }
        }

        /// A details screen that the user opens, leaves, and opens again.
        func openADetailAgainAndAgain() async throws {
            let openings = 6
            try await scene(
                "A details screen opened six times: requested once, then read from memory",
                unsent: [.fromCache: openings - 1]
            ) {
                for opening in 1...openings {
                    screen.show([])
                    let lists = ListController(network: network, screen: screen)
                    call(lists.detail.load(SecondHandDetail(id: "E100011")), shouldBe: "succeeded")
                    if opening > 1, lists.detail.rawData == nil {
                        note("the cached response had not landed when load returned")
                    }
                    try await landed()
                    shouldShow(catalogue.secondHand.filter { $0.number == 11 })
                }
            }
        }
    }
#endif
