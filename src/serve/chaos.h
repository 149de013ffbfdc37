/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CHAOS_H
#define NAILUP_SERVE_CHAOS_H

/*
 * Answers queries of class CHAOS about the server itself: version.bind and version.server,
 * id.server and hostname.bind (RFC 4892), each only if the operator gave its text. Pure; any
 * thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/header.h"
#include "dns/question.h"
#include "serve/server_options.h"

enum {
    /* Question, and a record with a pointer as its owner and one text. */
    CHAOS_BYTES_MAX = HEADER_LEN + NAME_WIRE_MAX + 4 + 2 + 10 + 1 + 255,
};

struct chaos_space {
    uint8_t bytes[CHAOS_BYTES_MAX];
};

/* Makes the answer, which borrows from the space and has a TTL of 0. False: the question is for
 * another name, or there is no text. */
bool chaos_answer(struct answer *out, struct chaos_space *space, const struct question *question,
                  const struct server_options *options);

#endif
