"""Verifies the proof of a draw as docs/draw.md describes it: python3 draw_verify.py PROOF.json"""
import hashlib, hmac, json, re, sys

u64 = lambda n: n.to_bytes(8, "big")
behind_lengths = lambda parts: b"".join(u64(len(part)) + part for part in parts)
sha = lambda *parts: hashlib.sha256(behind_lengths(parts)).digest()
mac = lambda key, *parts: hmac.digest(key, behind_lengths(parts), "sha256")
word = lambda digest: int.from_bytes(digest[:8], "big")
need = lambda holds, fault, value=None: value if holds else sys.exit(f"does not hold: {fault}")

def fields(pairs, names):  # pairs, not a dict, so that a field given twice is seen
    need(type(pairs) is tuple and sorted(n for n, _ in pairs) == sorted(names.split()), f"the fields are not {names}")
    return [dict(pairs)[name] for name in names.split()]

whole = lambda n: need(type(n) is int and 0 <= n < 1 << 63, "a number is no integer from 0 to 2^63 - 1", n)
text = lambda t, form: need(type(t) is str and re.fullmatch(form, t), "a text has not its form", t)
octets = lambda t, size: bytes.fromhex(text(t, "([0-9a-f]{2}){%s}" % size))

def number_of(position, shares, key):  # a Feistel network, walked until it lands below `shares`
    half = max(1, ((shares - 1).bit_length() + 1) // 2)
    while True:
        left, right = position >> half, position & (1 << half) - 1
        for n in range(8):
            left, right = right, left ^ word(hmac.digest(key, bytes([n]) + u64(right), "sha256")) & (1 << half) - 1
        if (position := left << half | right) < shares:
            return position

def verify(proof):
    form, terms, commitment, seed, rule, entropy, ledger, digest, position, number, drawn_at, seal = fields(proof, (
        "format round commitment seed entropy_rule entropy ledger digest winning_position winning_number drawn_at seal"))
    need(form == "tessera-draw-1" and type(ledger) is list, "this is no proof of format tessera-draw-1")
    id, sku, nth, shares, first = fields(terms, "id sku number shares first_number")
    need(whole(nth) > 0 < whole(shares) and whole(first) + shares < 1 << 63, "the round's figures are out of range")
    begun = sha(b"tessera draw round 1", text(id, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").encode(),
                text(sku, "[A-Za-z0-9._-]{1,64}").encode(), u64(nth), u64(shares), u64(first))
    seed, chain, free, total, sold = octets(seed, 32), begun, 0, 0, []
    need(hashlib.sha256(seed).digest() == octets(commitment, 32), "the commitment is not that of the seed")
    for order, start, upto in (fields(entry, "order start upto") for entry in ledger):
        need(free <= whole(start) < whole(upto) <= shares, "the ledger overlaps, is unordered or leaves the round")
        chain = sha(b"tessera draw entry 1", chain, octets(order, 32), u64(start), u64(upto))
        sold.append((total, start))  # how many shares were sold before this entry, and where it begins
        free, total = upto, total + upto - start
    need(chain == octets(digest, 32) and sold, "the digest is not that of round and ledger, or nothing was sold")
    entropy = octets(entropy, "0,40")
    due = 1692803367 + 3 * (word(entropy) - 1)  # in seconds: when the beacon publishes this value
    need(rule == "none" and not entropy or rule == "drand:quicknet" and len(entropy) == 40
         and 1692803367 <= due <= whole(drawn_at) // 10**6, "the entropy is not what the rule gives at this time")
    words = (word(mac(seed, b"tessera draw winner 1", begun, chain, entropy, u64(n))) for n in range(256))
    index = next(w for w in words if w < (1 << 64) // total * total) % total  # the rest would favour low indexes
    before, start = max(entry for entry in sold if entry[0] <= index)
    need(whole(position) == start + index - before, "another position wins")
    offset = number_of(position, shares, mac(seed, b"tessera draw numbers 1"))
    need(whole(number) == first + offset, "the winning position bears another number")
    need(octets(seal, 32) == sha(b"tessera draw seal 1", hashlib.sha256(seed).digest(), seed, rule.encode(), entropy,
                                 chain, u64(position), u64(number), u64(whole(drawn_at))), "the seal is broken")
    return f"holds: number {number} of {sku}, round {nth}, wins; {total} of {shares} shares were sold"

print(verify(json.load(open(sys.argv[1], encoding="utf-8"), object_pairs_hook=tuple)))
