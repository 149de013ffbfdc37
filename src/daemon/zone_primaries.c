/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: nothing in a copy points into the configuration. */
#include "daemon/zone_primaries.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"

static bool copy_primary(struct zone_primaries *to, size_t index, const struct xfr_primary *from)
{
    struct xfr_primary *primary = &to->list[index];
    primary->addr = from->addr;
    primary->has_tls = from->has_tls;
    if (from->key) {
        to->keys[index] = *from->key;
        primary->key = &to->keys[index];
    }
    return !from->has_tls || tls_peer_options_copy(&primary->tls, &from->tls, &to->memory[index]);
}

static struct zone_primaries *copy_primaries(const char *folder, const struct xfr_primary *list,
                                             size_t count)
{
    struct zone_primaries *copy = calloc(1, sizeof(*copy));
    if (!copy)
        return NULL;
    copy->folder = strdup(folder);
    copy->list = calloc(count, sizeof(*copy->list));
    copy->keys = calloc(count, sizeof(*copy->keys));
    copy->memory = calloc(count, sizeof(*copy->memory));
    bool is_whole = copy->folder && copy->list && copy->keys && copy->memory;
    for (; is_whole && copy->count < count; copy->count++)
        is_whole = copy_primary(copy, copy->count, &list[copy->count]);
    if (is_whole)
        return copy;
    zone_primaries_free(copy);
    return NULL;
}

struct zone_primaries *zone_primaries_copy(const struct config *config,
                                           const struct config_source *source)
{
    return copy_primaries(config->transfer_directory, source->servers, source->primary_count);
}

struct zone_primaries *zone_primaries_clone(const struct zone_primaries *primaries)
{
    return copy_primaries(primaries->folder, primaries->list, primaries->count);
}

void zone_primaries_free(struct zone_primaries *primaries)
{
    if (!primaries)
        return;
    for (size_t i = 0; i < primaries->count; i++) {
        tsig_key_wipe(&primaries->keys[i]);
        free(primaries->memory[i]);
    }
    free(primaries->folder);
    free(primaries->list);
    free(primaries->keys);
    free(primaries->memory);
    free(primaries);
}

static bool is_same_primary(const struct xfr_primary *a, const struct xfr_primary *b)
{
    if (!addr_equal(&a->addr, &b->addr) || a->has_tls != b->has_tls || !a->key != !b->key)
        return false;
    if (a->key && !tsig_key_equal(a->key, b->key))
        return false;
    return !a->has_tls || tls_peer_options_equal(&a->tls, &b->tls);
}

bool zone_primaries_equal(const struct zone_primaries *a, const struct zone_primaries *b)
{
    if (!a || !b)
        return a == b;
    if (a->count != b->count || strcmp(a->folder, b->folder) != 0)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_primary(&a->list[i], &b->list[i]))
            return false;
    return true;
}
