#!/usr/bin/env python3
"""Verifies the signature of an HTTP request in a file, with nothing of Runway.

    check-signature.py request.http --secret BASE64          # hmac-sha256, and the field Runway-Digest
    check-signature.py request.http --public-key key.pem     # ed25519, ECDSA and RSA; needs the package cryptography
    check-signature.py request.http --server-key BASE64 --secret BASE64  # Runway-Sealed-Key: --secret is the registered one
    check-signature.py --vectors ../docs/formats.md          # the test vectors of that page

The request is in the text form of HTTP/1.1. Time, nonces and which components must be covered are not checked: this is the arithmetic alone.

Its limits: requests alone, no responses; the derived components of the target and whole header fields, without the parameters sf, key, bs,
req, tr and name, and no @query-param; algorithms by the kind of the key, and PKCS #1 v1.5 only if alg says so. `runway verify` has none of
these limits.
"""
import argparse, base64, hashlib, hmac, re, sys


class Request:
    def __init__(self, data, scheme="https"):
        head, self.body = (re.split(rb"\r?\n\r?\n", data, maxsplit=1) + [b""])[:2]
        head = re.sub(rb"[ \t]*\n[ \t]+", b" ", head.replace(b"\r\n", b"\n"))  # RFC 9112 section 5.2
        start, *lines = head.decode("latin-1").split("\n")
        self.method, self.target, _ = start.split(" ", 2)
        self.fields = [(n.lower(), v.strip(" \t")) for n, _, v in (line.partition(":") for line in lines if line)]
        self.scheme = scheme
        self.path, mark, query = self.target.partition("?")
        self.path = self.path or "/"
        self.query = "?" + query

    def values(self, name):
        return [v for n, v in self.fields if n == name]

    def authority(self):
        host = self.values("host")[0].lower()
        default = {"https": ":443", "http": ":80"}[self.scheme]
        return host[: -len(default)] if host.endswith(default) else host


# --- HTTP Message Signatures (RFC 9421) ---

def dictionary(text):
    """The members of a Dictionary (RFC 9651), each as its text."""
    members, start, quoted, escaped = {}, 0, False, False
    for i, c in enumerate(text + ","):
        if escaped: escaped = False
        elif quoted and c == "\\": escaped = True
        elif c == '"': quoted = not quoted
        elif c == "," and not quoted:
            key, _, value = text[start:i].strip().partition("=")
            if key in members: raise ValueError(f"{key} occurs twice")
            members[key], start = value, i + 1
    return members


def component(request, identifier):
    name = re.match(r'"([^"]*)"', identifier).group(1)
    if identifier != f'"{name}"':
        raise ValueError(f"{identifier}: this checker knows no parameters of components")
    derived = {
        "@method": lambda: request.method, "@authority": request.authority, "@scheme": lambda: request.scheme,
        "@path": lambda: request.path, "@query": lambda: request.query, "@request-target": lambda: request.target,
        "@target-uri": lambda: f"{request.scheme}://{request.authority()}{request.target}",
    }
    if name in derived: return derived[name]()
    values = request.values(name)
    if not values: raise ValueError(f"the request has no {name}")
    return ", ".join(values)


def signature_base(request, parameters):
    identifiers = re.findall(r'"[^"]*"(?:;[a-z]+(?:="[^"]*")?)*', parameters[1 : parameters.index(")")])
    lines = [f"{i}: {component(request, i)}" for i in identifiers]
    return "\n".join(lines + [f'"@signature-params": {parameters}']).encode("ascii")


def check_content_digest(request):
    checked = 0
    for key, text in dictionary(", ".join(request.values("content-digest"))).items():
        if key not in ("sha-256", "sha-512"): continue
        digest = hashlib.new(key.replace("-", ""), request.body).digest()
        if base64.b64decode(text.strip(":")) != digest: raise ValueError("the body has another digest")
        checked += 1
    if not checked: raise ValueError("content-digest is covered, and has no digest by sha-256 or sha-512")


def public_key_verifies(pem, algorithm, signature, base):
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
    key = serialization.load_pem_public_key(pem)
    try:
        if isinstance(key, ed25519.Ed25519PublicKey): key.verify(signature, base)
        elif isinstance(key, rsa.RSAPublicKey) and algorithm == "rsa-v1_5-sha256":
            key.verify(signature, base, padding.PKCS1v15(), hashes.SHA256())
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, base, padding.PSS(padding.MGF1(hashes.SHA512()), 64), hashes.SHA512())
        else:
            half = len(signature) // 2
            der = utils.encode_dss_signature(*(int.from_bytes(part, "big") for part in (signature[:half], signature[half:])))
            key.verify(der, base, ec.ECDSA(hashes.SHA256() if key.key_size == 256 else hashes.SHA384()))
    except InvalidSignature:
        return False
    return True


def check_signature(request, label, secret, pem):
    inputs = dictionary(", ".join(request.values("signature-input")))
    values = dictionary(", ".join(request.values("signature")))
    if set(inputs) != set(values): raise ValueError("the two fields have other labels")
    label = label or next(iter(inputs))
    base = signature_base(request, inputs[label])
    print(base.decode(), "\n")
    signature = base64.b64decode(values[label].strip(":"))
    if '"content-digest"' in inputs[label]: check_content_digest(request)
    if secret: return hmac.compare_digest(hmac.new(secret, base, hashlib.sha256).digest(), signature)
    algorithm = re.search(r';alg="([^"]*)"', inputs[label])
    return public_key_verifies(pem, algorithm and algorithm.group(1), signature, base)


# --- The salted digest and the sealed key (docs/formats.md) ---

def form_pairs(text):
    def coded(part):
        part = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), part.replace(b"+", b" "))
        return b"".join(bytes([c]) if chr(c).isascii() and (chr(c).isalnum() or c in b"-._~") else b"%%%02X" % c for c in part)
    return [tuple(coded(p) for p in piece.partition(b"=")[::2]) for piece in text.split(b"&") if piece]


def parameters(text):
    """Sorted by name alone: Python's sort is stable, so that pairs with equal names remain in their order."""
    return b"&".join(name + b"=" + value for name, value in sorted(form_pairs(text), key=lambda pair: pair[0]))


def canonical(request, time, nonce):
    content_type = ", ".join(request.values("content-type"))
    is_form = content_type.split(";")[0].strip(" \t").lower() == "application/x-www-form-urlencoded"
    lines = [
        b"runway-digest-1", request.method.encode("ascii"), request.path.encode("ascii"), request.query.encode("latin-1"),
        parameters(request.query[1:].encode("latin-1")), content_type.encode("latin-1"),
        parameters(request.body) if is_form else b"", hashlib.sha256(request.body).hexdigest().encode(),
        time.encode("ascii"), nonce.encode("ascii"),
    ]
    return b"\n".join(lines)


def salted(text, secret, name):
    inner = hashlib.new(name, secret + b"\n" + text).hexdigest().encode()
    return hashlib.new(name, secret + b"\n" + inner).hexdigest()


def pairs_of(request, field):
    return dict(part.strip(" \t").split("=", 1) for part in request.values(field)[0].split(","))


def unpadded(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text: raise ValueError("Base64 is not canonical")  # RFC 4648 section 3.5
    return data


def open_box(private, enc, box, aad, info=b"runway sealed key 1"):
    """HPKE in base mode with X25519, HKDF-SHA256 and ChaCha20-Poly1305 (RFC 9180), for the first message of a context."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    def extract(suite, salt, label, ikm): return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + ikm, hashlib.sha256).digest()

    def expand(suite, prk, label, text, length):
        return hmac.new(prk, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + text + b"\x01", hashlib.sha256).digest()[:length]

    key = X25519PrivateKey.from_private_bytes(private)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"
    eae = extract(kem, b"", b"eae_prk", key.exchange(X25519PublicKey.from_public_bytes(enc)))
    shared = expand(kem, eae, b"shared_secret", enc + public, 32)
    context = b"\x00" + extract(suite, b"", b"psk_id_hash", b"") + extract(suite, b"", b"info_hash", info)
    secret = extract(suite, shared, b"secret", b"")
    nonce = expand(suite, secret, b"base_nonce", context, 12)
    return ChaCha20Poly1305(expand(suite, secret, b"key", context, 32)).decrypt(nonce, box, aad)


def check_digest(request, secret, server_key):
    digest = pairs_of(request, "runway-digest")
    unpadded(digest["nonce"])
    text = canonical(request, digest["ts"], digest["nonce"])
    print(text.decode("latin-1"), "\n")
    if server_key:
        sealed = pairs_of(request, "runway-sealed-key")
        caller, _, sealed_secret = open_box(server_key, unpadded(sealed["enc"]), unpadded(sealed["box"]), text).partition(b"\n")
        print("caller:", caller.decode())
        # Everyone can seal to the server: only the comparison with the registered secret shows who did.
        if caller.decode() != digest["key"] or not hmac.compare_digest(sealed_secret, secret): return False
    name = {"sha-256": "sha256", "md5": "md5"}[digest["alg"]]
    return hmac.compare_digest(salted(text, secret, name), digest["sig"])


def check_vectors(page):
    """Each vector is a block of `http`, and before it lines `secret: BASE64` and, for a sealed key, `server key: BASE64`."""
    text = open(page).read()
    count = 0
    for lines, block in re.findall(r"((?:^(?:secret|server key): `[^`]+`\n)+)(?:.*\n)*?```http\n((?:.*\n)*?)```", text, re.M):
        request = Request(block.rstrip("\n").encode() if "\n\n" in block.rstrip("\n") else block.encode() + b"\n")
        keys = {name: base64.b64decode(value) for name, value in re.findall(r"^(secret|server key): `([^`]+)`", lines, re.M)}
        if request.values("signature"): valid = check_signature(request, None, keys["secret"], None)
        else: valid = check_digest(request, keys["secret"], keys.get("server key"))
        print("valid" if valid else "INVALID", "\n")
        if not valid: return False
        count += 1
    print(f"{count} vectors")
    return count > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--secret", type=base64.b64decode)
    parser.add_argument("--server-key", type=base64.b64decode)
    parser.add_argument("--public-key")
    parser.add_argument("--label")
    parser.add_argument("--scheme", default="https")
    parser.add_argument("--vectors")
    options = parser.parse_args()
    if options.vectors: sys.exit(0 if check_vectors(options.vectors) else 1)
    if options.server_key and not options.secret: parser.error("--server-key needs --secret, the registered secret of the caller")
    request = Request(open(options.file, "rb").read(), options.scheme)
    if request.values("signature-input"):
        pem = open(options.public_key, "rb").read() if options.public_key else None
        valid = check_signature(request, options.label, options.secret, pem)
    else:
        valid = check_digest(request, options.secret, options.server_key)
    print("valid" if valid else "INVALID")
    sys.exit(0 if valid else 1)


if __name__ == "__main__":
    main()
