import Metrics
import Runway
import Tracing

// The examples in the doc comments of the sinks, line by line. They are compiled and not run.

func makeMeasuredLayer(over transport: any Transport, _ factory: any MetricsFactory) -> NetworkLayer {
    MetricsSystem.bootstrap(factory)  // once, at launch: the factory of the app's metrics backend
    let network = NetworkLayer(transport: transport, sinks: [MetricsSink()])
    return network
}

func makeTracedLayer(over transport: any Transport, _ tracer: any Tracer) -> NetworkLayer {
    InstrumentationSystem.bootstrap(tracer)  // once, at launch: the tracer of the app's tracing backend
    let network = NetworkLayer(transport: transport, sinks: [TracingSink()])
    return network
}
