/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The hashes that DNSSEC records have: DS digests and hashed owner names. verify_hash.c computes
 * them.
 */
#include "validate/verify.h"

#include "base/check.h"
#include "validate/algorithm.h"
#include "validate/verify_hash.h"

size_t verify_digest(uint8_t digest_type, struct span first, struct span second,
                     uint8_t out[VERIFY_DIGEST_MAX])
{
    enum verify_hash hash;
    switch (digest_type) {
    case DIGEST_SHA1:
        hash = VERIFY_SHA1;
        break;
    case DIGEST_SHA256:
        hash = VERIFY_SHA256;
        break;
    case DIGEST_SHA384:
        hash = VERIFY_SHA384;
        break;
    default:
        return 0;
    }
    uint8_t bytes[VERIFY_HASH_MAX];
    size_t len = verify_hash_bytes(hash, first, second, bytes);
    MUST(len <= VERIFY_DIGEST_MAX);
    memcpy(out, bytes, len);
    return len;
}

bool verify_nsec3_hash(uint8_t out[VERIFY_NSEC3_HASH], struct span name, struct span salt,
                       uint16_t iterations)
{
    uint8_t bytes[VERIFY_HASH_MAX];
    if (verify_hash_bytes(VERIFY_SHA1, name, salt, bytes) != VERIFY_NSEC3_HASH)
        return false;
    for (unsigned i = 0; i < iterations; i++)
        if (!verify_hash_bytes(VERIFY_SHA1, span_of(bytes, VERIFY_NSEC3_HASH), salt, bytes))
            return false;
    memcpy(out, bytes, VERIFY_NSEC3_HASH);
    return true;
}
