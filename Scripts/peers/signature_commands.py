"""`runway sign` and `runway verify` both ways with http-message-signatures: signature_commands.py RUNWAY SEED COUNT."""
import base64, os, random, subprocess, sys, tempfile
from datetime import datetime, timedelta, timezone

sys.argv[1:1] = ["none"]  # The other script is a module here, and does nothing by itself.
import signatures
from signatures import SECRET, Headers, Keys, Message, peer, random_message

runway, seed, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
folder = tempfile.mkdtemp()
key = os.path.join(folder, "secret")
with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file: file.write(base64.b64encode(SECRET))


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
signer = peer.HTTPMessageSigner(signature_algorithm=peer.algorithms.HMAC_SHA256, key_resolver=Keys())
verifier = peer.HTTPMessageVerifier(signature_algorithm=peer.algorithms.HMAC_SHA256, key_resolver=Keys())
while made < count:
    message, covered = random_message(rng)
    lines = list(message.headers.items())
    try:
        signer.sign(message, key_id="k", created=datetime.now(timezone.utc), nonce=str(made), tag="t", covered_component_ids=covered)
    except peer.HTTPMessageSignaturesException:
        continue  # What the peer cannot express.
    verified = run("verify", "--key", key, "--loose", message=text(message))
    assert verified.returncode == 0, (text(message), verified.stdout, verified.stderr)
    plain = Message(message.method, message.url, lines)
    signed = run("sign", "--key", key, "--key-id", "k", "--components", " ".join(covered), message=text(plain))
    assert signed.returncode == 0, (text(plain), covered, signed.stderr)
    added = [line.split(": ", 1) for line in signed.stdout.decode().splitlines()]
    verifier.verify(Message(plain.method, plain.url, lines + added), max_age=timedelta(days=1))
    made += 1
print(f"{made} requests by each command and the peer, seed {seed}")
