import Runway

extension HostPlan {
    /// The plan with some addresses after all others that did not fail of late.
    func avoiding(_ avoided: Set<IPAddress>) -> HostPlan {
        guard let first = order.first, avoided.contains(first) else { return self }
        var plan = self
        plan.order = order.filter { !avoided.contains($0) } + order.filter { avoided.contains($0) }
        // It was made for the one that is dialled first.
        if plan.order.first != first { plan.stagger = nil }
        return plan
    }
}
