#if Command
    import RunwayTesting

    /// Random draws with algorithms of this project, since the algorithms of the standard library may change between
    /// toolchains.
    extension SeededGenerator {
        /// Returns an integer within `range`. For the ranges in this target, its bias is below 2^-40.
        mutating func integer(in range: ClosedRange<Int>) -> Int {
            let width = UInt64(range.upperBound - range.lowerBound) + 1
            return range.lowerBound + Int(next().multipliedFullWidth(by: width).high)
        }

        /// Returns a number within `range`, in steps of a millionth of its width.
        mutating func number(in range: ClosedRange<Double>) -> Double {
            let step = Double(integer(in: 0...1_000_000)) / 1_000_000
            return range.lowerBound + (range.upperBound - range.lowerBound) * step
        }

        /// Returns `true` with a probability of `percent` %.
        mutating func chance(percent: Int) -> Bool {
            integer(in: 1...100) <= percent
        }

        /// Returns a random element of `elements`, which must not be empty.
        mutating func element<Element>(of elements: [Element]) -> Element {
            elements[integer(in: 0...elements.count - 1)]
        }

        /// Returns `count` different elements, or all elements if there are fewer.
        mutating func sample<Element>(_ count: Int, of elements: [Element]) -> [Element] {
            var rest = elements
            var taken: [Element] = []
            while taken.count < count, !rest.isEmpty {
                taken.append(rest.remove(at: integer(in: 0...rest.count - 1)))
            }
            return taken
        }
    }
#endif
