/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Prints any bytes with ldns. A message that our parser accepts must not crash ldns. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "dns/present.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[16384];
    enum err err = present_message(span_of(data, size), text, sizeof(text));
    MUST(err == ERR_OK || err == ERR_INVALID);
    MUST(strlen(text) < sizeof(text));
    return 0;
}
