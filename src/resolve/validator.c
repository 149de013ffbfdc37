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
    signer_load_init(&validator->load);
    judged_zones_init(&validator->judged);
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
