/// An error of this package whose description is written for records: it holds nothing of what was sent, received or stored, other than
/// names that a record shows anyway.
package protocol DescribedError: Error, CustomStringConvertible {}

extension Error {
    /// What a record, a log or a response may show of the error: the description if the error is one of this package's, and otherwise the
    /// name of its type. The text of any other error may hold anything, such as the header fields of a request.
    package var safeText: String { (self as? any DescribedError)?.description ?? "\(type(of: self))" }
}
