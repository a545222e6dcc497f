"""`runway sign` and `runway verify` both ways with http-message-signatures: signature_commands.py RUNWAY SEED COUNT."""
import os, random, subprocess, sys, tempfile
from datetime import datetime, timedelta, timezone

sys.argv[1:1] = ["none"]  # The other script is a module here, and does nothing by itself.
import signatures
from cryptography.hazmat.primitives import serialization
from signatures import ALGORITHMS, Message, make_keys, parties, peer, random_message

runway, seed, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
folder = tempfile.mkdtemp()
keys = make_keys(folder)


def write(name, text):
    with open(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file: file.write(text)
    return os.path.join(folder, name)


def public(text):
    key = serialization.load_pem_private_key(text.encode(), None).public_key()
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


# The file with which each algorithm signs, and the one with which it verifies.
files = {name: (write(name, text), write(name + ".public", text if name == "hmac-sha256" else public(text))) for name, text in keys.items()}


def text(message):
    """A request as a file: the authority, then the target as it is."""
    rest = message.url[len("https://"):]
    end = min(i for i in (rest.find("/"), rest.find("?"), len(rest)) if i >= 0)
    target = rest[end:] if rest[end:].startswith("/") else "/" + rest[end:]
    lines = [f"{message.method} {target} HTTP/1.1", f"Host: {rest[:end]}"] + [f"{n}: {v}" for n, v in message.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def run(*arguments, message):
    return subprocess.run([runway, *arguments], input=message, capture_output=True)


rng, made = random.Random(seed), 0
signers, verifiers = parties(keys, peer.HTTPMessageSigner), parties(keys, peer.HTTPMessageVerifier)
while made < count:
    message, covered = random_message(rng)
    name = list(ALGORITHMS)[made % len(ALGORITHMS)]
    private, public_key = files[name]
    lines = list(message.headers.items())
    try:
        signers[name].sign(message, key_id="k", created=datetime.now(timezone.utc), nonce=str(made), tag="t", covered_component_ids=covered)
    except peer.HTTPMessageSignaturesException:
        continue  # What the peer cannot express.
    verified = run("verify", "--key", public_key, "--alg", name, "--loose", message=text(message))
    assert verified.returncode == 0, (text(message), verified.stdout, verified.stderr)
    plain = Message(message.method, message.url, lines)
    signed = run("sign", "--key", private, "--alg", name, "--key-id", "k", "--components", " ".join(covered), message=text(plain))
    assert signed.returncode == 0, (text(plain), covered, signed.stderr)
    added = [line.split(": ", 1) for line in signed.stdout.decode().splitlines()]
    verifiers[name].verify(Message(plain.method, plain.url, lines + added), max_age=timedelta(days=1))
    made += 1
print(f"{made} requests by each command and the peer, by {len(ALGORITHMS)} algorithms, seed {seed}")
