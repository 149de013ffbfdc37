/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_CHAOS_H
#define NAILUP_SERVE_CHAOS_H

/*
 * What a server says of itself in class CHAOS: version.bind and version.server, id.server and
 * hostname.bind (RFC 4892), each only when the operator gave the text. Pure; any thread.
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

/* The answer, which borrows from the space and whose TTL is 0; false: it is none of these
 * questions, or has no text. */
bool chaos_answer(struct answer *out, struct chaos_space *space, const struct question *question,
                  const struct server_options *options);

#endif
