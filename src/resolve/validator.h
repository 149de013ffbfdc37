/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_VALIDATOR_H
#define NAILUP_RESOLVE_VALIDATOR_H

/*
 * The memory of a worker that validates: the space that every message uses again, the contexts of
 * OpenSSL, and the validation that runs just now. Made when a configuration first validates.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "cache/key.h"
#include "resolve/judged_zones.h"
#include "validate/signer_load.h"
#include "validate/validation.h"
#include "validate/verify.h"
#include "validate/verify_memo.h"

/* One validation, with everything besides the message that its verdict depends on. It has no
 * pointers. */
struct validating {
    struct validation machine;
    bool is_cut;             /* only the first alias of the message is judged */
    bool lacks_answer;       /* a question about keys or DS records has failed: other servers of the
                                answer do not help */
    bool lacks_room;         /* ... for our own lack of room: the failure is not remembered */
    uint32_t failure_left_s; /* of that failure: struct failure.ttl_max_s */
    char text[ANSWER_TEXT_MAX]; /* of that failure; "": none */
};

struct validator {
    struct verifier *verifier;
    struct verify_memo *memo;
    uint64_t serial; /* of the last validation */
    struct validating now;
    struct signer_load load;
    struct judged_zones judged;
    bool has_do_clients;  /* some client's question had DO */
    bool has_due;         /* due is set */
    struct cache_key due; /* of keys or DS records that were used and expire soon */
    struct validation_space space;
};

/* Returns NULL out of memory. */
struct validator *validator_new(void);
void validator_free(struct validator *validator); /* NULL is fine */
#endif
