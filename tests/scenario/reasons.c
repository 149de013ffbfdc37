/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "scenario/reasons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reasons_add(struct reasons *reasons, const char *text)
{
    char cut[REASON_MAX];
    size_t at = 0;
    snprintf(cut, sizeof(cut), "%s", text);
    while (at < reasons->count && strcmp(reasons->reason[at].text, cut) != 0)
        at++;
    if (at == REASONS_MAX)
        return;
    if (at == reasons->count) {
        memcpy(reasons->reason[at].text, cut, sizeof(cut));
        reasons->reason[at].times = 0;
        reasons->count++;
    }
    reasons->reason[at].times++;
}

static int by_times(const void *a, const void *b)
{
    const struct reason *one = a, *two = b;
    if (one->times != two->times)
        return one->times > two->times ? -1 : 1;
    return strcmp(one->text, two->text);
}

void reasons_print(struct reasons *reasons)
{
    qsort(reasons->reason, reasons->count, sizeof(reasons->reason[0]), by_times);
    for (size_t i = 0; i < reasons->count; i++)
        printf("%5u skipped: %s\n", reasons->reason[i].times, reasons->reason[i].text);
}
