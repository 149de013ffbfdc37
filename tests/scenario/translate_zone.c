/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* forward-zone, stub-zone, and auth-zone and rpz with a file. A stub zone "." is the start of
 * recursion: it becomes root hints. */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "scenario/translate_inside.h"

/* Adds a server of the root under an arbitrary name. */
static void put_hint(struct translating *work, const char *addr)
{
    static const char name[] = "hint.root-servers.invalid.";
    if (!buf_span(&work->hints).len)
        translate_put(&work->hints, ". 3600 IN NS %s\n", name);
    translate_put(&work->hints, "%s 3600 IN %s %s\n", name, strchr(addr, ':') ? "AAAA" : "A", addr);
}

/* Writes "IP@PORT", without a name after '#'. */
static void put_addr(struct translating *work, char *value)
{
    struct zones *zones = work->zone;
    value[strcspn(value, "#")] = '\0';
    if (zones->is_root && !strchr(value, '@')) {
        put_hint(work, value);
        return;
    }
    translate_put(&zones->text, "%s\"%s\"", zones->has_addrs ? ", " : ", upstreams: [", value);
    zones->has_addrs = true;
}

static void begin(struct translating *work, const char *name)
{
    struct zones *zones = work->zone;
    zones->is_root = zones == &work->zones[STUB_ZONES] && (!*name || strcmp(name, ".") == 0);
    if (zones->is_root)
        return;
    translate_put(&zones->text, "  - {name: \"%s\"", *name ? name : ".");
    zones->open = true;
}

/* "forward-first: yes" becomes "first: yes". Our addresses come last. Unbound allows them
 * anywhere, so options in between go to the front by ending the list early. */
static void put_option(struct translating *work, const char *key, const char *own,
                       const char *value)
{
    struct zones *zones = work->zone;
    if (zones->has_addrs)
        translate_put(&zones->text, "]");
    zones->has_addrs = false;
    if (strcmp(own, "tcp-upstream") == 0)
        translate_put(&zones->text, ", transport: tcp");
    else if (strcmp(own, "first") == 0)
        translate_put(&zones->text, ", first: %s", value);
    else if (strcmp(own, "no-cache") == 0)
        translate_put(&zones->text, ", cache: no");
    else
        translate_need(work, key);
}

/* ---- auth-zone ---- */

static void translate_auth(struct translating *work, const char *key, const char *value)
{
    struct zones *zones = work->zone;
    bool is_yes = strcmp(value, "yes") == 0;
    if (strcmp(key, "zonefile") == 0)
        translate_put(&zones->text, "    file: %s\n", value);
    else if (strcmp(key, "fallback-enabled") == 0)
        translate_put(&zones->text, "    fallback: %s\n", value);
    else if (strcmp(key, "for-downstream") == 0)
        zones->no_clients = !is_yes;
    else if (strcmp(key, "for-upstream") == 0)
        zones->no_upstream = !is_yes;
    else if (strcmp(key, "zonemd-check") == 0)
        zones->checks_zonemd = is_yes;
    else if (strcmp(key, "zonemd-reject-absence") == 0)
        zones->requires_zonemd = is_yes;
    else
        translate_need(work, key);
}

/* Removes the zone, because a zone without a use has no effect in Unbound. */
static void drop_auth(struct zones *zones)
{
    struct span text = buf_span(&zones->text);
    char *before = strndup((const char *)text.data, zones->begins_at);
    MUST(before);
    buf_clear(&zones->text);
    translate_put(&zones->text, "%s", before);
    free(before);
}

static void put_uses(struct zones *zones, bool ignores_zonemd)
{
    const char *zonemd = ignores_zonemd           ? "ignore"
                         : zones->requires_zonemd ? "require"
                         : zones->checks_zonemd   ? "check"
                                                  : "ignore";
    translate_put(&zones->text, "    for: %s\n    zonemd: %s\n",
                  zones->no_clients    ? "upstream"
                  : zones->no_upstream ? "clients"
                                       : "both",
                  zonemd);
}

static void end_auth(struct zones *zones, bool ignores_zonemd)
{
    if (zones->no_clients && zones->no_upstream)
        drop_auth(zones);
    else
        put_uses(zones, ignores_zonemd);
    zones->no_clients = zones->no_upstream = false;
    zones->checks_zonemd = zones->requires_zonemd = false;
}

/* ---- rpz ---- */

static void translate_rpz(struct translating *work, const char *key, const char *value)
{
    static const char *const same[] = {"rpz-action-override", "rpz-cname-override", "rpz-log",
                                       "rpz-log-name"};
    struct buf *text = &work->zone->text;
    work->out->has_policy = true;
    if (strcmp(key, "zonefile") == 0) {
        translate_put(text, "    file: %s\n", value);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        if (strcmp(key, same[i]) == 0) {
            translate_put(text, "    %s: \"%s\"\n", key + strlen("rpz-"), value);
            return;
        }
    }
    translate_need(work, key);
}

void translate_zone(struct translating *work, const char *key, char *value)
{
    struct zones *zones = work->zone;
    bool is_auth = zones == &work->zones[AUTH_ZONES], is_rpz = zones == &work->zones[RPZ_ZONES];
    if ((is_auth || is_rpz) && strcmp(key, "name") == 0) {
        zones->begins_at = buf_len(&zones->text);
        work->out->has_held |= is_auth;
        translate_put(&zones->text, "  - name: \"%s\"\n", value);
        zones->open = true;
        return;
    }
    if (is_auth || is_rpz) {
        (is_auth ? translate_auth : translate_rpz)(work, key, value);
        return;
    }
    size_t prefix = strlen(zones->prefix);
    const char *own = strncmp(key, zones->prefix, prefix) == 0 ? key + prefix : key;
    bool is_yes = strcmp(value, "no") != 0;
    if (strcmp(key, "name") == 0)
        begin(work, value);
    else if (strcmp(own, "addr") == 0)
        put_addr(work, value);
    else if (!is_yes || strcmp(own, "prime") == 0 || (zones->is_root && strcmp(own, "first") == 0))
        return; /* the default */
    else if (zones->is_root)
        translate_need(work, key);
    else
        put_option(work, key, own, value);
}

void translate_zone_end(struct translating *work)
{
    struct zones *zones = work->zone;
    if (zones && zones->open && zones == &work->zones[AUTH_ZONES])
        end_auth(zones, work->ignores_zonemd);
    else if (zones && zones->open && zones != &work->zones[RPZ_ZONES])
        translate_put(&zones->text, "%s}\n", zones->has_addrs ? "]" : "");
    if (zones)
        zones->open = zones->has_addrs = zones->is_root = false;
    work->zone = NULL;
}

bool translate_zones_finish(struct translating *work, struct buf *yaml)
{
    bool any = false;
    for (unsigned i = 0; i < ZONE_KINDS; i++) {
        struct span text = buf_span(&work->zones[i].text);
        if (!text.len)
            continue;
        any = any || (i != AUTH_ZONES && i != RPZ_ZONES);
        translate_put(yaml, "%s%s:\n", work->zones[i].section, i == RPZ_ZONES ? "" : "s");
        MUST(buf_append(yaml, text.data, text.len) == ERR_OK);
    }
    return any;
}
