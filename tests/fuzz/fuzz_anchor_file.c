/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Checks the promises of anchor_file_read(): an accepted text has anchors within the bounds that
 * are found by their names, and a refusal has a reason and a line of the text. The state of a zone
 * that was read is the same after it was written and read again. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/anchor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_anchors(const struct anchors *anchors)
{
    MUST(anchors_count(anchors) > 0 && anchors_count(anchors) <= ANCHORS_MAX);
    for (size_t i = 0; i < anchors_count(anchors); i++) {
        const struct anchor *anchor = anchors_at(anchors, i);
        MUST(anchors_find(anchors, anchor->zone) == anchor);
        MUST(anchor->kind == ANCHOR_TRUSTED);
        MUST(anchor->count > 0 && anchor->count <= ANCHOR_RECORDS_MAX);
        for (size_t j = 0; j < anchor->count; j++) {
            MUST(anchor->record[j].type == RRTYPE_DS || anchor->record[j].type == RRTYPE_DNSKEY);
            MUST(anchor->record[j].rdata.len > 4);
        }
    }
}

/* A file without a trusted key or a seed is not read, unless it says that all keys were revoked. */
static void check_round_trip(struct anchor_point *point)
{
    static struct anchor_point back;
    struct anchor_file_problem problem;
    struct buf text;
    if (!anchor_point_count(point, ANCHOR_VALID) && !anchor_point_count(point, ANCHOR_MISSING) &&
        !point->seed_count && !point->is_revoked)
        return;
    buf_init(&text, ANCHOR_FILE_BYTES_MAX);
    MUST(anchor_file_write(&text, point) == ERR_OK);
    MUST(anchor_file_read_point(&back, buf_span(&text), &problem) == ERR_OK);
    point->is_kept = true;
    MUST(memcmp(&back, point, sizeof(back)) == 0);
    buf_deinit(&text);
}

static void read_point(const uint8_t *data, size_t size)
{
    static struct anchor_point point;
    struct anchor_file_problem problem = {0};
    enum err err = anchor_file_read_point(&point, span_of(data, size), &problem);
    MUST(err == ERR_OK || (err == ERR_INVALID && problem.sentence));
    if (err == ERR_OK)
        check_round_trip(&point);
}

static size_t count_lines(const uint8_t *data, size_t size)
{
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct anchor_file_problem problem = {0};
    struct anchors *anchors = anchors_new();
    uint8_t *text = malloc(size + !size); /* exact size, except for an empty text */
    if (!text || !anchors)
        abort();
    memcpy(text, data, size);
    enum err err = anchor_file_read(anchors, span_of(text, size), &problem);
    free(text);
    MUST(err == ERR_OK || err == ERR_INVALID);
    MUST(err == ERR_OK || (problem.sentence && problem.line <= count_lines(data, size)));
    if (err == ERR_OK)
        check_anchors(anchors);
    read_point(data, size);
    anchors_free(anchors);
    return 0;
}
