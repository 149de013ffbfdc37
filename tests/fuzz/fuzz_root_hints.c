/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Checks the promises of root_hints_parse(): accepted hints have servers and addresses within their
 * bounds, and a refusal has a reason. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "recurse/root_hints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct delegation hints;
    struct root_hints_problem problem = {0};
    uint8_t *text = malloc(size + 1); /* exact size, except for an empty text */
    if (!text)
        return 0;
    memcpy(text, data, size);
    enum err err = root_hints_parse(&hints, span_of(text, size), &problem);
    free(text);
    MUST(err != ERR_INVALID || problem.sentence);
    MUST(err != ERR_OK || (hints.server_count && hints.addr_count));
    MUST(err != ERR_OK || name_is_root(delegation_zone(&hints)));
    return 0;
}
