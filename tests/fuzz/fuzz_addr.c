/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Addresses and prefixes from hostile text. An accepted value must survive the conversion to text
 * and back, and a prefix must contain its own address.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "base/check.h"
#include "base/prefix.h"

static void try_addr(const char *text)
{
    struct addr addr, again;
    bool has_port;
    char name[ADDR_NAME_MAX], out[ADDR_TEXT_MAX];
    const char *hint = addr_zone_hint(text);
    if (addr_parse_named(&addr, &has_port, name, text, 53))
        return;
    MUST(*hint == '\0' || *name); /* an accepted address has no fault in its zone */
    MUST(memchr(name, '\0', ADDR_NAME_MAX));
    MUST(has_port || addr_port(&addr) == 53);
    addr_format(&addr, out);
    MUST(!addr_parse(&again, out, 0));
    MUST(addr_equal(&addr, &again));
    MUST(addr_hash(&addr, 1) == addr_hash(&again, 1));
}

static void try_prefix(const char *text)
{
    struct prefix prefix, again;
    char out[PREFIX_TEXT_MAX];
    if (prefix_parse(&prefix, text))
        return;
    MUST(prefix_contains(&prefix, &prefix.addr));
    MUST(!prefix_parse(&again, prefix_format(&prefix, out)));
    MUST(prefix_equal(&prefix, &again));

    struct prefix_set *set = prefix_set_new();
    MUST(set && !prefix_set_add(set, &prefix, 3));
    MUST(prefix_set_add(set, &again, 4) == ERR_INVALID);
    MUST(!prefix_set_freeze(set));
    MUST(prefix_set_find(set, &prefix.addr) == 3);
    prefix_set_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exact size, so that a sanitizer detects overruns */
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    try_addr(text);
    try_prefix(text);
    free(text);
    return 0;
}
