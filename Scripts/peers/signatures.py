"""Makes requests and responses that http-message-signatures signs, and verifies those that Runway signed."""
import base64, json, os, random, sys
from datetime import datetime, timedelta, timezone

import http_message_signatures as peer
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

SECRET = b"runway test secret 0123456789"
ALGORITHMS = {algorithm.algorithm_id: algorithm for algorithm in (
    peer.algorithms.HMAC_SHA256, peer.algorithms.ED25519, peer.algorithms.ECDSA_P256_SHA256, peer.algorithms.ECDSA_P384_SHA384,
    peer.algorithms.RSA_PSS_SHA512, peer.algorithms.RSA_V1_5_SHA256)}


class Keys(peer.HTTPSignatureKeyResolver):
    """One key: the secret of both sides, or that of a private key in PEM."""
    def __init__(self, pem=None): self.key = serialization.load_pem_private_key(pem.encode(), None) if pem else None
    def resolve_public_key(self, key_id): return self.key.public_key() if self.key else SECRET
    def resolve_private_key(self, key_id): return self.key or SECRET


def make_keys(folder):
    """A key of each algorithm, by its name, as runway reads them: PEM, or Base64 of a secret."""
    private = {"ed25519": ed25519.Ed25519PrivateKey.generate(), "ecdsa-p256-sha256": ec.generate_private_key(ec.SECP256R1()),
               "ecdsa-p384-sha384": ec.generate_private_key(ec.SECP384R1())}
    for name in ("rsa-pss-sha512", "rsa-v1_5-sha256"): private[name] = rsa.generate_private_key(65537, 2048)
    keys = {name: key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
            for name, key in private.items()}
    keys["hmac-sha256"] = base64.b64encode(SECRET).decode()
    with open(os.open(folder + "/keys.json", os.O_WRONLY | os.O_CREAT, 0o600), "w") as out: json.dump(keys, out)
    return keys


def parties(keys, kind):
    """A signer or a verifier of the peer for each algorithm."""
    return {name: kind(signature_algorithm=algorithm, key_resolver=Keys(None if name == "hmac-sha256" else keys[name]))
            for name, algorithm in ALGORITHMS.items()}


class Headers:
    """Header fields in their order, repeated ones included."""
    def __init__(self, lines): self.lines = [tuple(line) for line in lines]
    def items(self): return list(self.lines)
    def __iter__(self): return iter([name for name, _ in self.lines])
    def __contains__(self, name): return any(n.lower() == name.lower() for n, _ in self.lines)
    def __getitem__(self, name): return ", ".join(v for n, v in self.lines if n.lower() == name.lower())
    def __delitem__(self, name): self.lines = [line for line in self.lines if line[0].lower() != name.lower()]
    def __setitem__(self, name, value):
        if name in self: del self[name]
        self.lines.append((name, value))


class Message:
    def __init__(self, method, url, lines): self.method, self.url, self.headers = method, url, Headers(lines)


class Response:
    """A response, which the peer recognises by its status."""
    def __init__(self, status, lines, request): self.status_code, self.headers, self.request = status, Headers(lines), request


def random_response(rng):
    """A response and its request, with components of both."""
    request, of_request = random_message(rng)
    other, of_response = random_message(rng)
    covered = ["@status"] + [name for name in of_response if "@" not in name]
    covered += [(name if name[0] == '"' else f'"{name}"') + ";req" for name in of_request]
    rng.shuffle(covered)
    status = rng.choice([200, 201, 204, 304, 404, 503])
    return Response(status, other.headers.lines, request), covered[: rng.randrange(1, len(covered) + 1)]


def entry(message):
    """A message as JSON."""
    if isinstance(message, Response):
        return {**entry(message.request), "requestFields": message.request.headers.lines, "status": message.status_code, "fields": message.headers.lines}
    return {"method": message.method, "url": message.url, "fields": message.headers.lines}


def message(entry):
    if "status" not in entry: return Message(entry["method"], entry["url"], entry["fields"])
    return Response(entry["status"], entry["fields"], Message(entry["method"], entry["url"], entry["requestFields"]))


def random_message(rng):
    def text(alphabet, most): return "".join(rng.choice(alphabet) for _ in range(rng.randrange(most)))
    path_letters = list("abzAZ09-._~!$&'()*+,;=:@/") + ["%2F", "%2f", "%20", "%C3%A4", "%00"]
    host = rng.choice(["api.example.com", "API.Example.com", "api.example.com:443", "a.example:8443", "[2001:db8::1]", "[2001:DB8::1]:443"])
    path = "/" + text(path_letters, rng.choice([3, 20, 2000]))
    query = rng.choice(["", "?", "?" + text(path_letters + ["?", "&", "="], 40)])
    single = rng.random() < 0.5
    if single: query += ("&" if "?" in query else "?") + "only=" + text(path_letters[:-1], 10).replace("&", "+").replace("=", "x")
    value = list("abzAZ09 ,;=:\"'()/\\\t-_")
    names = ["X-One", "X-Two", "x-one", "Accept", "X-Empty", "X-Repeated", "X-Repeated"]
    lines = [(name, "" if name == "X-Empty" else text(value, 20).strip()) for name in names]
    lines += [("Priority", rng.choice(["u=1,   i", "i=?1;x=2.50, u=3", "u=7;a;b=?0"])), ("Accept-CH", rng.choice(["DPR,  Viewport-Width", "DPR;x=1"])),
              ("Cache-Status", 'Example;  hit;ttl=30,   "other";fwd=miss'), ("Cache-Status", "a"), ("X-Bytes", rng.choice(["\xe9\xff", "a\x80b"])), ("X-Bytes", "c")]
    lines.append(("Content-Digest", peer.ContentDigest.create(text(value, 40).encode())))
    lines.append(("Example-Dict", rng.choice(["a=1,   b=2;x;y=\"z\", c", "b=(1   2);q=1.50, a=:AQ==:", "a=?0,b=tok/en;x=-3"])))
    rng.shuffle(lines)
    covered = ["@method", "@authority", "@path", "@query", "@target-uri", "@request-target", "@scheme", "x-one", "x-two", "accept", "x-empty",
               "x-repeated", "example-dict", '"example-dict";key="a"', '"x-repeated";bs', '"x-bytes";bs',
               '"priority";sf', '"accept-ch";sf', '"cache-status";sf', "content-digest", '"content-digest";sf']
    # RFC 9421 does not say whether the authority in @target-uri is normalised; Runway does, and the peer does not.
    if host != host.lower() or host.endswith(":443"): covered.remove("@target-uri")
    if single: covered.append('"@query-param";name="only"')
    rng.shuffle(covered)
    return Message(rng.choice(["GET", "POST", "QUERY", "M-SEARCH"]), "https://" + host + path + query, lines), covered[: rng.randrange(1, len(covered) + 1)]


def make(folder, seed, count):
    rng, made = random.Random(seed), 0
    signers = parties(make_keys(folder), peer.HTTPMessageSigner)
    with open(folder + "/theirs.jsonl", "w") as out:
        while made < count:
            signed, covered = random_response(rng) if made % 5 == 4 else random_message(rng)
            name = list(ALGORITHMS)[made % len(ALGORITHMS)]
            try:
                signers[name].sign(signed, key_id="k", created=datetime.now(timezone.utc), nonce=str(made), tag='t"\\', covered_component_ids=covered,
                            include_alg=rng.random() < 0.5, use_existing_digest=True)
            except peer.HTTPMessageSignaturesException:
                continue  # What the peer cannot express.
            out.write(json.dumps({**entry(signed), "components": covered, "algorithm": name}) + "\n")
            made += 1
    print(f"{made} messages signed by the peer, by {len(ALGORITHMS)} algorithms, seed {seed}")


def verify(folder):
    with open(folder + "/keys.json") as file: verifiers = parties(json.load(file), peer.HTTPMessageVerifier)
    count = 0
    for line in open(folder + "/ours.jsonl"):
        ours = json.loads(line)
        verifiers[ours["algorithm"]].verify(message(ours), max_age=timedelta(days=1))
        count += 1
    print(f"{count} messages of Runway verified by the peer")


if sys.argv[1] == "make": make(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
elif sys.argv[1] == "verify": verify(sys.argv[2])
