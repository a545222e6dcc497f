/// Gives a manager the parameters of a call that is made without any, by ``APIManager/load()``.
///
/// The manager holds it weakly and asks it on the main actor. One source may serve several managers.
@MainActor
public protocol ParameterSource: AnyObject {
    /// The call to make now; `nil`, or a value of another endpoint than the manager's, fails it as
    /// ``NetworkError/Kind/invalidParameters``.
    func endpoint(for manager: any APIManaging) -> (any Endpoint)?
}
