/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Why a connection closed, its state and its answer time are never hidden. */

#include "ctl/layout.h"

#include <string.h>

#include "base/check.h"

/* The first one goes first. */
static const char *const expendable[] = {
    "sources",
    "source",
    "cipher",
    "session",
    "authenticated",
    "single_use_retest",
    "single_use_proved",
    "tls",
    "idle_limit_is",
    "single_use_proofs",
    "replacements",
    "holds",
    "idle_limit",
    "max_requests",
    "fallbacks",
    "draining",
    "suspect",
    "dialing",
    "dials",
    "next_question",
    "resolved_by",
    "due",
    "idle",
    "answers",
    "nailed",
    "workers",
    "dial_failures",
    "udp_rtt",
    "timeouts",
    "resting",
    "age",
    "in_flight",
    "requests",
    "queries",
    "transport",
    "connections",
};

static unsigned layout_width(const struct table *table, const int widths[CONTROL_COLUMNS_MAX])
{
    unsigned sum = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (widths[i] >= 0)
            sum += (unsigned)widths[i] + (sum ? LAYOUT_GAP : 0);
    return sum;
}

/* Whether the rate of this counter is shown too: the rate says more. */
static bool has_rate(const struct table *table, size_t column,
                     const int widths[CONTROL_COLUMNS_MAX])
{
    return table->columns[column].type == COLUMN_COUNTER && column + 1 < table->column_count &&
           table->columns[column + 1].type == COLUMN_RATE && widths[column + 1] >= 0;
}

/* Hides one column. False: none may be hidden. */
static bool layout_hide(const struct table *table, int widths[CONTROL_COLUMNS_MAX])
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (widths[i] < 0 || !has_rate(table, i, widths))
            continue;
        widths[i] = -1;
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(expendable); i++)
        for (size_t j = 0; j < table->column_count; j++) {
            if (widths[j] < 0 || strcmp(table->columns[j].name, expendable[i]) != 0)
                continue;
            widths[j] = -1;
            return true;
        }
    return false;
}

/* Takes one character from the widest text. False: all have their minimum width. */
static bool layout_narrow(const struct table *table, int widths[CONTROL_COLUMNS_MAX])
{
    size_t widest = table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        bool is_text = table->columns[i].type == COLUMN_TEXT && widths[i] > LAYOUT_TEXT_MIN;
        if (is_text && (widest == table->column_count || widths[i] > widths[widest]))
            widest = i;
    }
    if (widest == table->column_count)
        return false;
    widths[widest]--;
    return true;
}

/* Narrows texts to at most this width, where hiding alone would hide too much. */
static void layout_bound_texts(const struct table *table, int most, int widths[CONTROL_COLUMNS_MAX])
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].type == COLUMN_TEXT)
            widths[i] = MIN(widths[i], most);
}

size_t layout_fit(const struct table *table, unsigned width, int widths[CONTROL_COLUMNS_MAX],
                  size_t hidden[CONTROL_COLUMNS_MAX])
{
    int wanted[CONTROL_COLUMNS_MAX];
    size_t count = 0;
    if (width == 0 || layout_width(table, widths) <= width)
        return 0;
    memcpy(wanted, widths, sizeof(wanted));
    layout_bound_texts(table, MAX((int)width / 2, LAYOUT_TEXT_MIN), widths);
    while (layout_width(table, widths) > width && layout_hide(table, widths))
        ;
    while (layout_width(table, widths) > width && layout_narrow(table, widths))
        ;
    for (size_t i = 0; i < table->column_count; i++)
        if (wanted[i] >= 0 && widths[i] < 0)
            hidden[count++] = i;
    return count;
}
