/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_NEEDS_H
#define NAILUP_VALIDATE_NEEDS_H

/* Which RRsets of a message must be secure for the message to be secure. Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "validate/rrsets.h"
#include "validate/validation_view.h"

enum { NEEDS_ALIASES_MAX = 12 /* aliases that are followed in one answer */ };

/* Masks of indexes into rrsets.set. */
struct needs {
    uint32_t needed; /* the alias chain and the records asked for; the SOA of a negative answer */
    uint32_t alias;  /* of these, the first alias of the chain; 0: none */
    uint32_t proofs; /* signed NSEC and NSEC3 RRsets of the authority section */
    bool is_sound;   /* the chain leads to view->end, and each CNAME record beside a DNAME record is
                        the one that follows from it */
};

/* A CNAME that a DNAME explains needs no signature (RFC 6672 section 5.3.1), but it must follow
 * from the DNAME. */
void needs_find(struct needs *out, const struct rrsets *sets, const struct validation_view *view);

#endif
