#if Command
    import Runway

    extension DemoSession {
        /// A controller is released while its call is in flight.
        func leaveAScreenDuringItsCall() async throws {
            try await scene("A screen left while its call is in flight: nothing lands") {
                var lists: ListController? = ListController(network: network, screen: screen)
                try await arrival(at: "/zf/list") {
                    call(lists?.rentals.load(RentalList(city: "beijing", delay: 4000)), shouldBe: "cancelled")
                }
                screen.show([])
                lists = nil
                try await landed()
                shouldShow([])
            }
        }
    }
#endif
