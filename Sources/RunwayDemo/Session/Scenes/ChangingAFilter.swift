#if Command
    import Runway

    extension DemoSession {
        /// The user changes the filter faster than the server responds.
        func changeFilterFasterThanTheServerResponds() async throws {
            let lists = ListController(network: network, screen: screen)
            try await scene("A filter changed faster than the server responds: only the newest lands") {
                for (change, rent) in [9000, 8000, 7000, 6000].enumerated() {
                    let isLast = change == 3
                    let filter = RentalList(
                        city: "shanghai", maximumRent: rent, pageSize: 3, delay: isLast ? nil : 4000)
                    // The user's next change arrives while the server processes this one.
                    try await arrival(at: "/zf/list") {
                        call(lists.rentals.load(filter), shouldBe: isLast ? "succeeded" : "replaced")
                    }
                }
                try await landed()
                shouldShow(catalogue.first(3, of: .rental, city: "shanghai", priceAtMost: 6000))
            }
        }
    }
#endif
