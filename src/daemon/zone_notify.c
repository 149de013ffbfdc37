/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: a signature is computed only for a sender that may notify, so that other senders cost
 * little.
 */
#include "daemon/zone_notify.h"

#include "config/config.h"
#include "dns/rrtype.h"

static const struct xfr_primary *find_primary(const struct config_source *source,
                                              const struct addr *from)
{
    for (size_t i = 0; i < source->primary_count; i++)
        if (addr_equal_ip(&source->servers[i].addr, from))
            return &source->servers[i];
    return NULL;
}

static bool is_allowed(const struct config_source *source, const struct addr *from)
{
    for (size_t i = 0; i < source->allow_notify.count; i++)
        if (prefix_contains(&source->allow_notify.list[i], from))
            return true;
    return false;
}

/* Finds the key that signed the message. A primary may use its own key, and any other host the key
 * of any primary. */
static const struct tsig_key *find_signer(const struct config_source *source,
                                          const struct xfr_primary *primary, struct span message)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    if (!tsig_query_key(message, wire, &name))
        return NULL;
    for (size_t i = 0; i < source->primary_count; i++) {
        const struct tsig_key *key = source->servers[i].key;
        bool may_use = !primary || addr_equal_ip(&primary->addr, &source->servers[i].addr);
        if (key && may_use && name_equal((struct name){key->name_wire, key->name_len}, name))
            return key;
    }
    return NULL;
}

/* A zone of the configuration that has primaries. */
struct notify_zone {
    struct name name;
    const struct config_source *source;
    bool is_catalog;
    bool is_transferred; /* the zone itself comes from the primaries, and not only its members */
};

/* Fills *out from entry `at`, counting auth-zones first, then rpz. Returns false at the end. */
static bool notify_zone_at(const struct config *config, size_t at, struct notify_zone *out)
{
    if (at < config->auth_zone_count) {
        const struct config_auth_zone *zone = &config->auth_zones[at];
        *out = (struct notify_zone){{zone->wire, zone->name_len},
                                    &zone->source,
                                    zone->catalog,
                                    zone->source.primary_count > 0 && !*zone->file};
        return true;
    }
    at -= config->auth_zone_count;
    if (at >= config->rpz.count)
        return false;
    const struct config_rpz_zone *zone = &config->rpz.zones[at];
    *out = (struct notify_zone){{zone->options.wire, zone->options.name_len},
                                &zone->source,
                                zone->catalog,
                                zone->source.primary_count > 0 && !*zone->file};
    return true;
}

/* The zone may be a member of a catalog. Only the keeper knows the members, so here the sender
 * decides, and then the key, because each catalog of a server may have a different key. */
static const struct config_source *notify_find_catalog(const struct config *config,
                                                       const struct addr *from, struct span message)
{
    const struct config_source *found = NULL;
    struct notify_zone zone;
    for (size_t i = 0; notify_zone_at(config, i, &zone); i++) {
        const struct xfr_primary *primary = find_primary(zone.source, from);
        if (!zone.is_catalog || (!primary && !is_allowed(zone.source, from)))
            continue;
        if (find_signer(zone.source, primary, message))
            return zone.source;
        found = found ? found : zone.source;
    }
    return found;
}

/* Finds the primaries of the zone with this name. */
static const struct config_source *notify_find_source(const struct config *config, struct name name,
                                                      const struct addr *from, struct span message)
{
    struct notify_zone zone;
    for (size_t i = 0; notify_zone_at(config, i, &zone); i++)
        if (zone.is_transferred && name_equal(zone.name, name))
            return zone.source;
    return notify_find_catalog(config, from, message);
}

static size_t notify_reply(const struct xfr_notify *notify, uint16_t rcode, uint8_t *out,
                           size_t max)
{
    return max >= XFR_NOTIFY_REPLY_MAX ? xfr_notify_reply(notify, rcode, out) : 0;
}

/* Verifies the message and signs the reply. */
static size_t judge_signed(const struct tsig_key *key, const struct xfr_notify *notify,
                           struct span message, uint64_t now_s, bool *is_taken, uint8_t *out,
                           size_t max)
{
    struct tsig_exchange exchange;
    if (tsig_exchange_begin(&exchange, key) != ERR_OK)
        return notify_reply(notify, RCODE_SERVFAIL, out, max);
    enum tsig_result result = tsig_check_query(&exchange, message, now_s);
    *is_taken = result == TSIG_GOOD;
    size_t len = notify_reply(notify, *is_taken ? RCODE_NOERROR : RCODE_NOTAUTH, out, max);
    size_t signed_len = tsig_sign_answer(&exchange, result, out, len, max, now_s);
    tsig_exchange_end(&exchange);
    return signed_len > 0 ? signed_len : len;
}

size_t zone_notify_judge(const struct config *config, struct span message, const struct addr *from,
                         uint64_t now_s, struct xfr_notify *notify, bool *is_taken, uint8_t *out,
                         size_t max)
{
    *is_taken = false;
    if (!xfr_notify_read(notify, message))
        return 0;
    const struct config_source *source =
        notify_find_source(config, xfr_notify_zone(notify), from, message);
    if (!source)
        return notify_reply(notify, RCODE_NOTAUTH, out, max);
    const struct xfr_primary *primary = find_primary(source, from);
    bool must_be_signed = primary && primary->key;
    if ((!primary && !is_allowed(source, from)) || (must_be_signed && !notify->has_tsig))
        return notify_reply(notify, RCODE_REFUSED, out, max);
    if (notify->has_tsig) {
        const struct tsig_key *key = find_signer(source, primary, message);
        return key ? judge_signed(key, notify, message, now_s, is_taken, out, max)
                   : notify_reply(notify, RCODE_NOTAUTH, out, max);
    }
    *is_taken = true;
    return notify_reply(notify, RCODE_NOERROR, out, max);
}
