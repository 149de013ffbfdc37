/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The life of the table. Invariant: an empty slot matches nothing, because the salt is secret. */
#include "serve/clearance.h"

#include <stdlib.h>

#include "base/rand.h"

bool clearance_init(struct clearance *clearance)
{
    clearance->slots = calloc(CLEARANCE_SLOTS, sizeof(*clearance->slots));
    clearance->salt = rand_u64();
    return clearance->slots != NULL;
}

void clearance_deinit(struct clearance *clearance)
{
    free(clearance->slots);
    clearance->slots = NULL;
}

void clearance_forget(struct clearance *clearance)
{
    clearance->salt = rand_u64();
}
