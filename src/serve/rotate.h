/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_ROTATE_H
#define NAILUP_SERVE_ROTATE_H

/* Changes the order of the addresses of an answer, for clients that only use the first. Pure. */

#include <stdint.h>

#include "cache/answer.h"

/*
 * Rotates each RRset of A or AAAA in the answer section of a copy by turn places. copy has the
 * first len bytes of the answer's message (answer_copy()), with the whole answer section; names_at
 * is the place of its first owner name. Only addresses change places: names, TTLs, signatures, the
 * order of aliases and the targets of compressed names stay as they are.
 */
void rotate_addresses(const struct answer *answer, uint8_t *copy, size_t len, size_t names_at,
                      uint32_t turn);

#endif
