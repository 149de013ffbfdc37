# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""Keys and signatures of the DNSSEC algorithms, by libcrypto.

The signers of others (ldns-signzone, dnssec-signzone) refuse to sign most of the faults that a validator must find.
So this module signs any bytes, and they sign the zones that are right."""

import ctypes
import functools
import hashlib
import struct

REVOKE, ZONE, SEP = 0x80, 0x100, 1
KSK, ZSK = ZONE | SEP, ZONE
SHA1_ALGORITHMS = 5, 7

# algorithm: (kind of key, bits or curve, digest). Long RSA keys take long to find.
ALGORITHMS = {5: ("RSA", 1024, "SHA1"), 7: ("RSA", 1024, "SHA1"), 8: ("RSA", 1024, "SHA256"),
              10: ("RSA", 1024, "SHA512"), 13: ("EC", "P-256", "SHA256"), 14: ("EC", "P-384", "SHA384"),
              15: ("ED25519", None, None), 16: ("ED448", None, None)}
DIGESTS = {1: "sha1", 2: "sha256", 4: "sha384"}


@functools.cache
def crypto():
    lib = ctypes.CDLL("libcrypto.so.3")
    for name in ("EVP_PKEY_Q_keygen", "EVP_MD_CTX_new", "EVP_get_digestbyname"):
        getattr(lib, name).restype = ctypes.c_void_p
    return lib


def check(result):
    if result != 1:
        raise RuntimeError("libcrypto failed")


def make_pair(algorithm, bits=None):
    kind, size, _ = ALGORITHMS[algorithm]
    more = [ctypes.c_size_t(bits or size)] if kind == "RSA" else [size.encode()] if kind == "EC" else []
    pair = crypto().EVP_PKEY_Q_keygen(None, None, kind.encode(), *more)
    if not pair:
        raise RuntimeError(f"libcrypto makes no key of algorithm {algorithm}")
    return ctypes.c_void_p(pair)


def number_of(pair, name):
    """Returns a number of the key as bytes."""
    number = ctypes.c_void_p()
    check(crypto().EVP_PKEY_get_bn_param(pair, name, ctypes.byref(number)))
    out = ctypes.create_string_buffer((crypto().BN_num_bits(number) + 7) // 8)
    crypto().BN_bn2bin(number, out)
    crypto().BN_free(number)
    return out.raw


def public_of(pair, algorithm):
    """Returns the public key in the form of a DNSKEY record."""
    if ALGORITHMS[algorithm][0] == "RSA":
        exponent = number_of(pair, b"e")
        return bytes([len(exponent)]) + exponent + number_of(pair, b"n")
    out, size = ctypes.create_string_buffer(200), ctypes.c_size_t(200)
    if ALGORITHMS[algorithm][0] == "EC":
        check(crypto().EVP_PKEY_get_octet_string_param(pair, b"pub", out, size, ctypes.byref(size)))
        return out.raw[1:size.value]  # leaves out the byte for the form of the point
    check(crypto().EVP_PKEY_get_raw_public_key(pair, out, ctypes.byref(size)))
    return out.raw[:size.value]


def plain_ecdsa(signature, size):
    """Converts the two numbers from DER to the form of RFC 6605."""
    at, out = 2, b""
    for _ in range(2):
        length = signature[at + 1]
        out += signature[at + 2:at + 2 + length].lstrip(b"\0").rjust(size, b"\0")
        at += 2 + length
    return out


def key_tag(data):
    """Computes the key tag (RFC 4034 appendix B)."""
    total = sum(byte << 8 if at % 2 == 0 else byte for at, byte in enumerate(data))
    return (total + (total >> 16)) & 0xFFFF


class Key:
    """A key of a zone. signs: "keys" (the DNSKEY set), "data" (all else) or "all"; is_published: whether it is in
    the DNSKEY set. public: that of a key that signs nothing. An algorithm without signatures of ours (200, 12) has
    any bytes for both."""

    def __init__(self, algorithm, flags=KSK, signs="all", is_published=True, protocol=3, bits=None, public=None):
        self.algorithm, self.flags, self.signs, self.is_published = algorithm, flags, signs, is_published
        self.protocol, self.pair, self.public = protocol, None, public
        if public:
            return
        if algorithm in ALGORITHMS:
            self.pair = make_pair(algorithm, bits)
            self.public = public_of(self.pair, algorithm)
        else:
            self.public = hashlib.shake_256(f"key {algorithm}".encode()).digest(64)

    @property
    def data(self):
        return struct.pack(">HBB", self.flags, self.protocol, self.algorithm) + self.public

    @property
    def tag(self):
        return key_tag(self.data)

    def sign(self, data):
        if self.pair is None:
            return hashlib.shake_256(data).digest(64)
        kind, _, digest = ALGORITHMS[self.algorithm]
        lib = crypto()
        context = ctypes.c_void_p(lib.EVP_MD_CTX_new())
        method = ctypes.c_void_p(lib.EVP_get_digestbyname(digest.encode())) if digest else None
        check(lib.EVP_DigestSignInit(context, None, method, None, self.pair))
        out, size = ctypes.create_string_buffer(1024), ctypes.c_size_t(1024)
        check(lib.EVP_DigestSign(context, out, ctypes.byref(size), data, ctypes.c_size_t(len(data))))
        lib.EVP_MD_CTX_free(context)
        signature = out.raw[:size.value]
        return plain_ecdsa(signature, 32 if self.algorithm == 13 else 48) if kind == "EC" else signature


def ds_data(owner, data, digest=2, algorithm=None, tag=None):
    """Returns the data of a DS record for DNSKEY data. owner: in wire format. A digest of an unknown type has 32
    bytes."""
    algorithm, tag = algorithm or data[3], key_tag(data) if tag is None else tag
    digested = (hashlib.new(DIGESTS[digest], owner + data) if digest in DIGESTS else hashlib.blake2s(data)).digest()
    return struct.pack(">HBB", tag, algorithm, digest) + digested
