/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The validator's whole state machine; see tests/unit/validate/play.h. */
#include "validate/validation.h"

#include "unit/validate/play.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)play_run(data, size);
    return 0;
}
