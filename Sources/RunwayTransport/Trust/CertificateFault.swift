#if Pins
    import Foundation
    import X509

    /// The reason why a server's certificates lead to no trusted authority, for the message of a failed verification.
    struct CertificateFault {
        /// The reason in fixed words, with dates and the name of an authority from the certificates.
        let reason: String

        /// Looks for the reason why a server's certificate is not trusted.
        ///
        /// - Parameters:
        ///   - leaf: The certificate of the server.
        ///   - others: The other certificates that the server sent; `nil` if they are unknown. A missing intermediate
        ///     certificate then looks like an expired one.
        ///   - date: The time when the verification failed.
        init(of leaf: Certificate, among others: [Certificate]?, at date: Date = .now) {
            var path = [leaf]
            while let issuer = path.last?.issuer,
                let next = others?.first(where: { $0.subject == issuer && !path.contains($0) })
            {
                path.append(next)
            }
            let dated = path.enumerated().compactMap { index, certificate -> String? in
                let name = certificate.subject.shown
                let subject = index == 0 ? "its certificate" : "the certificate of its authority \(name)"
                if date > certificate.notValidAfter {
                    return "\(subject) expired on \(certificate.notValidAfter.shown)"
                }
                let start = certificate.notValidBefore
                return date < start ? "\(subject) is not valid before \(start.shown)" : nil
            }
            let usage = try? leaf.extensions.extendedKeyUsage
            if let reason = dated.first {
                self.reason = reason
            } else if leaf.issuer == leaf.subject, leaf.publicKey.isValidSignature(leaf.signature, for: leaf) {
                reason = "its certificate is self-signed"
            } else if let usage, !usage.contains(.serverAuth), !usage.contains(.any) {
                reason = TrustRefused.notForServers
            } else {
                let authority = path[path.count - 1].issuer.shown
                reason =
                    "its certificate was issued by \(authority), "
                    + (others == nil
                        ? "from which no valid path leads to a trusted authority: it is unknown, or the certificate of an authority "
                            + "in between is missing or has expired"
                        : "which leads to no trusted authority")
            }
        }
    }

    extension DistinguishedName {
        /// The name in quotation marks, truncated since a server can send any name.
        fileprivate var shown: String { "\"\("\(self)".prefix(200))\"" }
    }

    extension Date {
        /// The date in RFC 3339 format, such as `2026-11-23T12:00:00Z`.
        fileprivate var shown: String { formatted(.iso8601) }
    }
#endif
