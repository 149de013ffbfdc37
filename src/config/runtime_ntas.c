/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: no two anchors of a list have the same name. */
#include "config/runtime_ntas.h"

#include <stdio.h>
#include <string.h>

#include "config/kind.h"
#include "validate/anchor_update.h"
#include "validate/anchors.h"

static bool parse_time(const char *text, uint64_t *out)
{
    *out = RUNTIME_NTA_DEFAULT_S * UINT64_C(1000000);
    if (text && !kind_parse_number(KIND_SECONDS, text, out))
        return false;
    return *out >= UINT64_C(1000000) && *out <= RUNTIME_NTA_LONGEST_S * UINT64_C(1000000);
}

enum err runtime_nta_parse(struct runtime_nta *out, const char *text, const char *time,
                           uint64_t now, char why[RUNTIME_NTA_WHY_MAX])
{
    struct name name;
    uint8_t wire[NAME_WIRE_MAX];
    uint64_t length_us;
    *out = (struct runtime_nta){0};
    if (name_parse(&name, wire, text, strlen(text))) {
        snprintf(why, RUNTIME_NTA_WHY_MAX,
                 "'%.64s' is not a domain name; write it like corp.example, or a dot for all names",
                 text);
        return ERR_INVALID;
    }
    if (!parse_time(time, &length_us)) {
        snprintf(why, RUNTIME_NTA_WHY_MAX,
                 "'%.64s' is not a time from 1s to 7d; write it like 30m, 1h or 1d", time);
        return ERR_INVALID;
    }
    name_fold(name, out->wire);
    out->name_len = name.len;
    out->ends_at = now + length_us;
    return ERR_OK;
}

/* ---- the list ---- */

/* The index of the anchor with this name, or count. */
static size_t runtime_ntas_index(const struct runtime_ntas *ntas, struct name name)
{
    size_t i = 0;
    while (i < ntas->count && !name_equal_exact(runtime_nta_name(&ntas->list[i]), name))
        i++;
    return i;
}

const struct runtime_nta *runtime_ntas_find(const struct runtime_ntas *ntas, struct name name)
{
    size_t place = runtime_ntas_index(ntas, name);
    return place < ntas->count ? &ntas->list[place] : NULL;
}

enum err runtime_ntas_put(struct runtime_ntas *ntas, const struct runtime_nta *nta)
{
    size_t place = runtime_ntas_index(ntas, runtime_nta_name(nta));
    if (place == RUNTIME_NTAS_MAX)
        return ERR_LIMIT;
    ntas->list[place] = *nta;
    ntas->count += place == ntas->count;
    return ERR_OK;
}

bool runtime_ntas_remove(struct runtime_ntas *ntas, struct name name)
{
    size_t place = runtime_ntas_index(ntas, name);
    if (place == ntas->count)
        return false;
    ntas->count--;
    memmove(&ntas->list[place], &ntas->list[place + 1],
            (ntas->count - place) * sizeof(ntas->list[0]));
    return true;
}

uint64_t runtime_ntas_next_end(const struct runtime_ntas *ntas)
{
    uint64_t end = UINT64_MAX;
    for (size_t i = 0; i < ntas->count; i++)
        if (ntas->list[i].ends_at < end)
            end = ntas->list[i].ends_at;
    return end;
}

bool runtime_ntas_take_ended(struct runtime_ntas *ntas, uint64_t now, struct runtime_nta *out)
{
    for (size_t i = 0; i < ntas->count; i++) {
        if (ntas->list[i].ends_at > now)
            continue;
        *out = ntas->list[i];
        return runtime_ntas_remove(ntas, runtime_nta_name(out));
    }
    return false;
}

/* Copies the anchors of the configuration, and applies the anchors of the point to the copy. */
static struct anchors *copy_with_point(const struct config *config,
                                       const struct anchor_point *point)
{
    if (!point)
        return anchors_copy(config->anchors);
    struct anchors *anchors =
        anchors_copy_keeping(config->anchors, anchor_point_zone(point), "trust-anchors");
    if (!anchors)
        return NULL;
    anchors_set_source(anchors, "updates");
    if (anchor_point_apply(point, anchors) == ERR_OK)
        return anchors;
    anchors_free(anchors);
    return NULL;
}

enum err runtime_ntas_anchors(const struct runtime_ntas *ntas, const struct config *config,
                              const struct anchor_point *point, struct anchors **out)
{
    *out = NULL;
    if (ntas->count == 0 && !point)
        return ERR_OK;
    struct anchors *anchors = copy_with_point(config, point);
    if (!anchors)
        return ERR_NO_MEMORY;
    anchors_set_source(anchors, "nta");
    enum err err = ERR_OK;
    for (size_t i = 0; i < ntas->count && !err; i++)
        err = anchors_add_negative(anchors, runtime_nta_name(&ntas->list[i]));
    if (err)
        anchors_free(anchors);
    else
        *out = anchors;
    return err;
}
