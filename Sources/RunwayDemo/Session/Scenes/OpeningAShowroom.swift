#if Command
    import Runway

    extension DemoSession {
        /// Many small calls at once, to a server that takes several in one request.
        func openAShowroom() async throws {
            let lists = ListController(network: network, screen: makeScreen())
            let homes = catalogue.newHomes.prefix(ShowroomController.homeCount)
            let showroom = ShowroomController(network: network, screen: screen, ids: homes.map { "xf-\($0.number)" })
            try await scene(
                "A showroom of nine homes, opened while a list is in flight: nine calls, one request",
                unsent: [.merged: homes.count]
            ) {
                screen.show([])
                try await arrival(at: "/xinfang/list") {
                    call(
                        lists.newHomes.load(NewHomesList(city: "shanghai", limit: 3, delay: 4000)),
                        shouldBe: "succeeded")
                }
                // The nine wait for each other however long the machine takes to make them.
                try await clock.held {
                    for home in homes {
                        call(showroom.homes.load(NewHomeDetail(id: "xf-\(home.number)")), shouldBe: "succeeded")
                    }
                    try await events.wait(for: "nine homes to land") { screen.lines.count == homes.count }
                }
                shouldShow(Array(homes))
                gate.open()
                try await landed()
                gate.close()
                shouldShow(catalogue.first(3, of: .newHome, city: "shanghai"), on: lists.screen)
                shouldBe(board.envelopes.count, 1, "requests that carried several calls")
            }
        }
    }
#endif
