/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Verifies any signature under any key: DNSKEY RDATA, a signature and signed bytes. A verdict does
 * not depend on whether the key is known already, an unsound key is never right, and OpenSSL's
 * queue of errors stays empty. The same bytes are also read as a DS record.
 */
#include <stddef.h>
#include <stdint.h>

#include <openssl/err.h>

#include "base/check.h"
#include "validate/algorithm.h"
#include "validate/dnskey.h"
#include "validate/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fuzz_run(struct verifier *verifier, const struct verify_job *job)
{
    MUST(verify_cost(job) > 0);
    bool is_right = verify_run(verifier, job);
    MUST(ERR_peek_error() == 0);
    return is_right;
}

/* A DS record made from the key must fit it, and one with other bytes must not. */
static void fuzz_ds(const struct dnskey *key, struct span rdata)
{
    uint8_t made[4 + VERIFY_DIGEST_MAX] = {0};
    struct ds ds;
    put_u16(made, key->tag);
    made[2] = key->algorithm;
    made[3] = DIGEST_SHA256;
    size_t len = verify_digest(DIGEST_SHA256, span_of("", 1), key->rdata, made + 4);
    MUST(ds_read(&ds, span_of(made, 4 + len)) && ds_fits(&ds, name_root(), key));
    if (ds_read(&ds, rdata) && ds_fits(&ds, name_root(), key))
        MUST(ds.tag == key->tag && algorithm_is_digest_supported(ds.digest_type));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct verifier *verifier;
    if (!verifier)
        verifier = verifier_new();
    struct span rest = span_of(data, size), rdata, signature;
    uint16_t key_len, signature_len;
    struct dnskey key;
    if (!span_take_u16(&rest, &key_len) || !span_take(&rest, key_len, &rdata) ||
        !span_take_u16(&rest, &signature_len) || !span_take(&rest, signature_len, &signature) ||
        !dnskey_read(&key, rdata))
        return 0;
    struct verify_job job = {
        .algorithm = key.algorithm, .key = key.key, .data = rest, .signature = signature};
    bool is_right = fuzz_run(verifier, &job);
    MUST(!is_right || algorithm_key_is_sound(key.algorithm, key.key.data, key.key.len));
    MUST(fuzz_run(verifier, &job) == is_right);
    fuzz_ds(&key, rest);
    return 0;
}
