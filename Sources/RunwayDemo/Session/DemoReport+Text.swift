#if Command
    import Runway

    extension DemoReport: CustomStringConvertible {
        /// The maximum number of lines per screen in the text.
        private static let maximumScreenLines = 9

        /// The report as text: the screens with all calls, the totals, and the tours.
        package var description: String {
            var blocks = scenes.map { scene in
                let hidden = scene.screen.count - Self.maximumScreenLines
                let rest = hidden > 0 ? ["… and \(hidden) more"] : []
                return Self.block(scene.title, Array(scene.screen.prefix(Self.maximumScreenLines)) + rest)
            }
            if !flights.isEmpty {
                blocks.append(
                    Self.block("Every call, its decisions and its duration", flights.map(\.description), indent: ""))
            }
            if !envelopes.isEmpty {
                blocks.append(
                    Self.block("Requests that carried several calls", envelopes.map(\.description), indent: ""))
            }
            if !flights.isEmpty { blocks.append(Self.block("Totals", totals)) }
            if let signing { blocks.append(signing.description) }
            if let hosts { blocks.append(hosts.description) }
            if let log { blocks.append(Self.block(DemoPart.log.action, ["\(log)"])) }
            if let train { blocks.append(Self.block(DemoPart.train.action, train.screen + ["\(train)"])) }
            if let chat { blocks.append(Self.block(DemoPart.chat.action, chat.screen + ["\(chat)"])) }
            if let saving { blocks.append(Self.block(DemoPart.saving.action, saving.screen + ["\(saving)"])) }
            if let devices {
                blocks.append(
                    Self.block(DemoPart.devices.action, devices.screen + devices.questions + ["\(devices)"]))
            }
            if let bundles { blocks.append(Self.block(DemoPart.bundles.action, bundles.screen + ["\(bundles)"])) }
            if !problems.isEmpty { blocks.append(Self.block("Not as it should be", problems)) }
            return blocks.joined(separator: "\n\n")
        }

        /// Returns a title with indented lines below it.
        private static func block(_ title: String, _ lines: [String], indent: String = "    ") -> String {
            (["— \(title)"] + lines.map { indent + $0 }).joined(separator: "\n")
        }

        /// The numbers of calls and requests, and the reasons why they differ.
        private var totals: [String] {
            let reasons = UnsentReason.allCases.map { (callsNotSent[$0] ?? 0, $0.reason) }
            let repetitions = Repetition.allCases.map { (requestsRepeated[$0] ?? 0, $0.reason) }
            let envelopeRequests = envelopes.reduce(0) { $0 + $1.attempts.count }
            let parts = [(callsSent, "the first of a call")] + repetitions + [(envelopeRequests, "for several calls")]
            return ["calls: \(calls)", Self.part(callsSent, "sent")] + reasons.compactMap(Self.part)
                + ["requests on the wire: \(requestsOnTheWire)"] + parts.compactMap(Self.part) + ["bytes: \(bytes)"]
        }

        /// Returns one line of the totals: a count and its meaning.
        private static func part(_ count: Int, _ what: String) -> String {
            let digits = String(count)
            return String(repeating: " ", count: max(0, 6 - digits.count)) + digits + "  " + what
        }

        private static func part(_ counted: (count: Int, what: String)) -> String? {
            counted.count > 0 ? part(counted.count, counted.what) : nil
        }
    }
#endif
