/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_TSIG_H
#define NAILUP_TRANSFER_TSIG_H

/*
 * Transaction signatures (TSIG, RFC 8945): signs a query, and verifies the stream of messages that
 * answers it. Also the other side: verifies a query (a NOTIFY) and signs the one answer.
 *
 * Invariant: the bytes of a message count as verified only after a TSIG_GOOD that covers them.
 * Messages without a TSIG record may come between signed ones (section 5.3.1); their bytes are
 * part of the next signature.
 *
 * The wall clock is an argument, in seconds since 1970. One thread for each exchange; keys never
 * change and any thread may read them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "dns/name.h"
#include "transfer/tsig_hmac.h"

enum {
    TSIG_SECRET_MAX = 512,   /* bytes of a secret */
    TSIG_FUDGE_S = 300,      /* section 10: the recommended width of the time window */
    TSIG_UNSIGNED_MAX = 99,  /* section 5.3.1: messages between two signatures */
    TSIG_MAC_SHORTEST = 10,  /* section 5.2.2.1: no MAC is shorter, whatever the key allows */
    TSIG_ALGORITHM_MAX = 24, /* text of an algorithm and the NUL */
    /* The longest TSIG record that we write: names, fixed fields, MAC, and the server's time. */
    TSIG_RECORD_MAX = NAME_WIRE_MAX + 10 + 16 + 16 + TSIG_MAC_MAX + 6,
};

struct tsig_key {
    uint8_t name_wire[NAME_WIRE_MAX]; /* in lower case */
    uint8_t name_len;
    enum tsig_hash hash;
    uint8_t mac_len; /* bytes of our MACs, and the fewest that we accept */
    uint16_t secret_len;
    uint8_t secret[TSIG_SECRET_MAX];
};

/* Makes a key. The algorithm is a text such as "hmac-sha256"; "hmac-sha256-128" truncates the MAC
 * to this many bits, at least half of it and TSIG_MAC_SHORTEST bytes. ERR_INVALID: no such
 * algorithm, or the secret is empty or longer than TSIG_SECRET_MAX. */
MUST_USE enum err tsig_key_make(struct tsig_key *out, struct name name, const char *algorithm,
                                struct span secret);

/* Writes the text that tsig_key_make() reads. Returns out. */
const char *tsig_key_algorithm(const struct tsig_key *key, char out[TSIG_ALGORITHM_MAX]);

/* Whether name, algorithm and secret are the same. Not for secrets that an attacker may guess: the
 * time depends on the contents. */
bool tsig_key_equal(const struct tsig_key *a, const struct tsig_key *b);

/* Overwrites the secret. */
void tsig_key_wipe(struct tsig_key *key);

enum tsig_result {
    TSIG_GOOD,        /* signed by our key, in time; covers all unsigned messages before it */
    TSIG_AWAITED,     /* this message has no signature, and a later one must have it */
    TSIG_MISSING,     /* a required signature is missing */
    TSIG_MALFORMED,   /* the record breaks the rules of RFC 8945 section 5.2 */
    TSIG_UNKNOWN_KEY, /* another key or algorithm */
    TSIG_BAD_MAC,     /* the MAC is wrong */
    TSIG_SHORT_MAC,   /* the MAC is right and shorter than the key allows */
    TSIG_BAD_TIME,    /* the MAC is right, the time is outside the window */
    TSIG_PEER_KEY,    /* the server does not know our key (BADKEY) */
    TSIG_PEER_MAC,    /* the server found our MAC wrong (BADSIG) */
    TSIG_PEER_TIME,   /* the server's clock differs from ours (BADTIME) */
    TSIG_PEER_SHORT,  /* the server wants longer MACs (BADTRUNC) */
    TSIG_OUR_FAILURE, /* out of memory, or OpenSSL lacks the hash */
};

/* Returns a sentence for logs, such as "the server does not know the TSIG key". Static storage. */
const char *tsig_result_text(enum tsig_result result);

/* One query with its answers. */
struct tsig_exchange {
    const struct tsig_key *key; /* borrowed */
    struct tsig_hmac *hmac;     /* the stream since the last signature */
    uint8_t mac[TSIG_MAC_MAX];  /* the last MAC, as it was on the wire */
    uint8_t mac_len;
    bool is_first;              /* the next signature is the first of the answer */
    uint8_t unsigned_count;     /* messages since the last signature */
    uint64_t query_signed_at_s; /* the time in the query that we verified */
};

/* Begins an exchange with this key. ERR_NO_MEMORY. tsig_exchange_end() frees it. */
MUST_USE enum err tsig_exchange_begin(struct tsig_exchange *exchange, const struct tsig_key *key);
void tsig_exchange_end(struct tsig_exchange *exchange);

/* ---- as a client ---- */

/* Appends a TSIG record to a query of len bytes in a buffer of size bytes, and counts it in the
 * header. Returns the new length, or 0: it does not fit, or OpenSSL failed. */
MUST_USE size_t tsig_sign_query(struct tsig_exchange *exchange, uint8_t *query, size_t len,
                                size_t size, uint64_t now_s);

/* Takes the next message of the answer. After any result other than TSIG_GOOD and TSIG_AWAITED the
 * exchange has failed. The answer is verified as a whole when its last message was TSIG_GOOD. */
enum tsig_result tsig_check_answer(struct tsig_exchange *exchange, struct span message,
                                   uint64_t now_s);

/* ---- as a server ---- */

/* Copies the lower-case name of the key in a query's TSIG record. Returns false when it has none.
 */
bool tsig_query_key(struct span query, uint8_t out[NAME_WIRE_MAX], struct name *name);

/* Verifies a query with the key of the exchange. */
enum tsig_result tsig_check_query(struct tsig_exchange *exchange, struct span query,
                                  uint64_t now_s);

/* Appends the TSIG record to the answer to a query with this result (sections 5.2 and 5.3.2): with
 * a MAC for TSIG_GOOD, TSIG_SHORT_MAC and TSIG_BAD_TIME, and without one for TSIG_BAD_MAC. Returns
 * the new length, or 0: it does not fit, OpenSSL failed, or the result has no such record. */
MUST_USE size_t tsig_sign_answer(struct tsig_exchange *exchange, enum tsig_result result,
                                 uint8_t *answer, size_t len, size_t size, uint64_t now_s);

#endif
