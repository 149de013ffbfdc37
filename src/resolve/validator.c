/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/validator.h"

#include <stdlib.h>

struct validator *validator_new(void)
{
    struct validator *validator = malloc(sizeof(*validator));
    if (!validator)
        return NULL;
    validator->verifier = verifier_new();
    validator->memo = verify_memo_new();
    if (!validator->verifier || !validator->memo) {
        validator_free(validator);
        return NULL;
    }
    validator->serial = 0;
    validator->private_count = 0;
    validator->turn_at = validator->turn_us = 0;
    signer_load_init(&validator->load);
    validator->space.owner = 0;
    return validator;
}

void validator_free(struct validator *validator)
{
    if (!validator)
        return;
    verifier_free(validator->verifier);
    verify_memo_free(validator->memo);
    free(validator);
}

bool validator_take_private(struct validator *validator, struct name zone)
{
    uint64_t hash = name_hash(zone, 0);
    for (unsigned i = 0; i < validator->private_count; i++)
        if (validator->private_zones[i] == hash)
            return false;
    if (validator->private_count == VALIDATOR_PRIVATE_MAX)
        return false;
    validator->private_zones[validator->private_count++] = hash;
    return true;
}
