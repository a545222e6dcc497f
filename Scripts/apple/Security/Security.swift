public import CoreFoundation
import Synchronization

import struct Foundation.Data
import class Foundation.NSData

// developer.apple.com: OSStatus
public typealias OSStatus = Int32

// developer.apple.com: errSecSuccess, errSecDuplicateItem, errSecItemNotFound
public let errSecSuccess: OSStatus = 0
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300
// developer.apple.com: errSecInteractionNotAllowed, errSecMissingEntitlement
public let errSecInteractionNotAllowed: OSStatus = -25308
public let errSecMissingEntitlement: OSStatus = -34018

// developer.apple.com: Item class keys and values; Item attribute keys and values; Item return result keys; Item search matching keys
nonisolated(unsafe) public let kSecClass: CFString = "class"
nonisolated(unsafe) public let kSecClassGenericPassword: CFString = "genp"
nonisolated(unsafe) public let kSecAttrService: CFString = "svce"
nonisolated(unsafe) public let kSecAttrAccount: CFString = "acct"
nonisolated(unsafe) public let kSecAttrAccessGroup: CFString = "agrp"
nonisolated(unsafe) public let kSecAttrAccessible: CFString = "pdmn"
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
nonisolated(unsafe) public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
nonisolated(unsafe) public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
nonisolated(unsafe) public let kSecAttrSynchronizable: CFString = "sync"
nonisolated(unsafe) public let kSecUseDataProtectionKeychain: CFString = "nleg"
nonisolated(unsafe) public let kSecValueData: CFString = "v_Data"
nonisolated(unsafe) public let kSecReturnData: CFString = "r_Data"
nonisolated(unsafe) public let kSecMatchLimit: CFString = "m_Limit"
nonisolated(unsafe) public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// The keychain of the fakes' system: generic passwords by service, account and access group.
public enum FakeKeychain {
    fileprivate struct Item {
        var data: Data
        var accessibility: String
    }
    fileprivate struct State {
        var refusal: OSStatus?
        var items: [[String]: Item] = [:]
        var interruption: (@Sendable () -> Void)?
    }
    fileprivate static let state = Mutex(State())

    /// Has every call fail, as for a program without the entitlement; `nil` has them succeed.
    public static func refuse(_ status: OSStatus?) { state.withLock { $0.refusal = status } }

    /// Has the next addition begin with what another process does, after the update that found no item.
    public static func interruptAddition(_ interruption: @escaping @Sendable () -> Void) {
        state.withLock { $0.interruption = interruption }
    }

    /// When each item can be read (`kSecAttrAccessible`).
    public static var accessibilities: [String] { state.withLock { $0.items.values.map(\.accessibility) } }

    /// Replaces what each item has.
    public static func damage() {
        state.withLock { state in for key in state.items.keys { state.items[key]?.data = Data([0]) } }
    }

    fileprivate static func perform(
        _ query: CFDictionary, _ operation: (inout State, [String]) -> OSStatus
    ) -> OSStatus {
        // Without it macOS uses the keychain of files, which has no accessibility.
        precondition(query.object(forKey: kSecUseDataProtectionKeychain) as? Bool == true)
        precondition(query.object(forKey: kSecClass) as? String == kSecClassGenericPassword as String)
        let isSynchronized = query.object(forKey: kSecAttrSynchronizable) as? Bool == true
        let key = [kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup].map {
            query.object(forKey: $0) as? String ?? ""
        } + [isSynchronized ? "synchronised" : ""]
        return state.withLock { state in state.refusal ?? operation(&state, key) }
    }
}

// developer.apple.com: SecItemCopyMatching(_:_:)
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    var found: Data?
    let status = FakeKeychain.perform(query) { state, key in
        found = state.items[key]?.data
        return found == nil ? errSecItemNotFound : errSecSuccess
    }
    if let found, query.object(forKey: kSecReturnData) as? Bool == true {
        result?.pointee = found.withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
    }
    return status
}
// developer.apple.com: SecItemUpdate(_:_:)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    FakeKeychain.perform(query) { state, key in
        guard var item = state.items[key] else { return errSecItemNotFound }
        if let data = attributesToUpdate.object(forKey: kSecValueData) as? Data { item.data = data }
        if let value = attributesToUpdate.object(forKey: kSecAttrAccessible) as? String { item.accessibility = value }
        state.items[key] = item
        return errSecSuccess
    }
}
// developer.apple.com: SecItemAdd(_:_:)
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    // Taken first: the interruption may add an item itself.
    FakeKeychain.state.withLock { $0.interruption.take() }?()
    return FakeKeychain.perform(attributes) { state, key in
        if state.items[key] != nil { return errSecDuplicateItem }
        state.items[key] = FakeKeychain.Item(
            data: attributes.object(forKey: kSecValueData) as? Data ?? Data(),
            accessibility: attributes.object(forKey: kSecAttrAccessible) as? String ?? "ak")
        return errSecSuccess
    }
}
// developer.apple.com: SecItemDelete(_:)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    FakeKeychain.perform(query) { state, key in
        state.items.removeValue(forKey: key) == nil ? errSecItemNotFound : errSecSuccess
    }
}
// developer.apple.com: SecCopyErrorMessageString(_:_:)
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }

// developer.apple.com: SecCertificate
public final class SecCertificate {
    fileprivate let der: [UInt8]
    fileprivate init(_ der: [UInt8]) { self.der = der }
}
// developer.apple.com: SecCertificateCopyData(_:)
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    certificate.der.withUnsafeBytes { CFData(bytes: $0.baseAddress, length: $0.count) }
}

// developer.apple.com: SecTrust. It is not Sendable there either.
public final class SecTrust {
    /// What the server showed.
    fileprivate let shown: [SecCertificate]
    fileprivate let verified: [SecCertificate]?
    fileprivate var isTrusted = false

    /// - Parameter verified: The chain that an evaluation finds, with its root; `nil` if it finds none.
    public init(fakeOf shown: [[UInt8]], verified: [[UInt8]]?) {
        self.shown = shown.map(SecCertificate.init)
        self.verified = verified?.map(SecCertificate.init)
    }
}
// developer.apple.com: SecTrustEvaluateWithError(_:_:)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    trust.isTrusted = trust.verified != nil
    if !trust.isTrusted { error?.pointee = CFError(domain: "NSOSStatusErrorDomain", code: -67_843) }
    return trust.isTrusted
}
// developer.apple.com: SecTrustCopyCertificateChain(_:). Before an evaluation nothing of it is verified.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    CFArray(array: trust.isTrusted ? trust.verified ?? [] : trust.shown)
}

// developer.apple.com: tls_protocol_version_t
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv10 = 0x0301
    case TLSv11 = 0x0302
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
    case DTLSv10 = 0xfeff
    case DTLSv12 = 0xfefd
}
