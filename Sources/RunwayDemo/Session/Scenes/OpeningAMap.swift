#if Command
    import Runway

    extension DemoSession {
        /// One response, two reformers.
        func openMap() async throws {
            let map = MapController(network: network, screen: screen)
            try await scene("One response through two reformers: rows, and pins on a map") {
                call(map.homes.load(SecondHandList(city: "shenzhen", page_size: 3)), shouldBe: "succeeded")
                try await landed()
                let homes = catalogue.first(3, of: .secondHand, city: "shenzhen")
                shouldShow(lines: homes.map(\.rowText) + homes.map(\.pinText))
            }
        }
    }
#endif
