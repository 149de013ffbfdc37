/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A forger against the whole state machine of the validator: see tests/unit/validate/forge.h. */
#include "validate/validation.h"

#include "unit/validate/forge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_denial;
    (void)forge_run(data, size, &is_denial);
    return 0;
}
