/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Messages with TSIG records. The first byte chooses the algorithm. Then come messages, each with
 * its length. Each serves as an answer to one signed query, and as a query to us. The fuzzer lacks
 * the secret, so no message verifies unless the program signs it. A signed message that parses must
 * verify.
 */
#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "transfer/tsig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW = 1800000000 };

static const char *const algorithms[] = {"hmac-sha1",       "hmac-sha256", "hmac-sha256-128",
                                         "hmac-sha384-192", "hmac-sha512", "hmac-sha224"};

/* Signs a message if it parses, and verifies it. */
static void check_own(const struct tsig_key *key, struct span bytes)
{
    static uint8_t signed_bytes[MESSAGE_MAX];
    struct message message;
    struct tsig_exchange client, server;
    if (message_parse(&message, bytes) != MESSAGE_OK || message.has_tsig || message.has_trailing ||
        message.counts[SECTION_ADDITIONAL] == UINT16_MAX)
        return;
    MUST(tsig_exchange_begin(&client, key) == ERR_OK);
    MUST(tsig_exchange_begin(&server, key) == ERR_OK);
    memcpy(signed_bytes, bytes.data, bytes.len);
    size_t len = tsig_sign_query(&client, signed_bytes, bytes.len, sizeof(signed_bytes), NOW);
    if (len > 0)
        MUST(tsig_check_query(&server, span_of(signed_bytes, len), NOW) == TSIG_GOOD);
    tsig_exchange_end(&client);
    tsig_exchange_end(&server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span bytes = span_of(data, size), message;
    uint8_t choice, wire[NAME_WIRE_MAX], query[512] = {0x12, 0x34};
    uint16_t len;
    struct tsig_key key;
    struct tsig_exchange client, server;
    struct name name = {.wire = (const uint8_t *)"\3xfr\3key", .len = 9};
    if (!span_take_u8(&bytes, &choice))
        return 0;
    MUST(tsig_key_make(&key, name, algorithms[choice % ARRAY_LEN(algorithms)],
                       span_of("secret", 6)) == ERR_OK);
    MUST(tsig_exchange_begin(&client, &key) == ERR_OK);
    MUST(tsig_sign_query(&client, query, HEADER_LEN, sizeof(query), NOW) > HEADER_LEN);
    enum tsig_result result = TSIG_AWAITED;
    while (span_take_u16(&bytes, &len) && span_take(&bytes, MIN(len, bytes.len), &message)) {
        if (result == TSIG_AWAITED)
            result = tsig_check_answer(&client, message, NOW);
        MUST(result != TSIG_GOOD);
        MUST(tsig_exchange_begin(&server, &key) == ERR_OK);
        MUST(tsig_check_query(&server, message, NOW) != TSIG_GOOD);
        tsig_exchange_end(&server);
        (void)tsig_query_key(message, wire, &name);
        check_own(&key, message);
    }
    tsig_exchange_end(&client);
    return 0;
}
