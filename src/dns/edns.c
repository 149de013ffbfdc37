/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads and writes EDNS options. Callers decide what they mean. Invariant: an option lies inside
 * its record, and at most EDNS_OPTIONS_MAX options are examined.
 */
#include "dns/edns.h"

#include <string.h>

#include "base/check.h"
#include "dns/build.h"

bool edns_option_next(struct span *rest, struct edns_option *out)
{
    if (rest->len < 4)
        return false;
    size_t len = get_u16(rest->data + 2);
    if (len > rest->len - 4)
        return false;
    out->code = get_u16(rest->data);
    out->data = span_of(rest->data + 4, len);
    *rest = span_of(rest->data + 4 + len, rest->len - 4 - len);
    return true;
}

bool edns_options_check(struct span options)
{
    struct edns_option option;
    for (int left = EDNS_OPTIONS_MAX; left > 0 && options.len > 0; left--)
        if (!edns_option_next(&options, &option))
            return false;
    return options.len == 0;
}

enum edns_found edns_find(const struct edns *edns, enum edns_code code, struct span *data)
{
    struct span rest = edns->options;
    for (struct edns_option option; edns_option_next(&rest, &option);) {
        if (option.code == code) {
            *data = option.data;
            return EDNS_FOUND;
        }
    }
    return EDNS_ABSENT;
}

static bool is_server_cookie(size_t len)
{
    return len >= EDNS_COOKIE_SERVER_MIN && len <= EDNS_COOKIE_SERVER_MAX;
}

enum edns_found edns_find_cookie(const struct edns *edns, struct edns_cookie *out)
{
    struct span data;
    if (edns_find(edns, EDNS_COOKIE, &data) == EDNS_ABSENT)
        return EDNS_ABSENT;
    if (!span_take(&data, EDNS_COOKIE_CLIENT, &out->client))
        return EDNS_BAD;
    out->server = data;
    return data.len == 0 || is_server_cookie(data.len) ? EDNS_FOUND : EDNS_BAD;
}

enum edns_found edns_find_keepalive(const struct edns *edns, struct edns_keepalive *out)
{
    struct span data;
    if (edns_find(edns, EDNS_TCP_KEEPALIVE, &data) == EDNS_ABSENT)
        return EDNS_ABSENT;
    *out = (struct edns_keepalive){.has_timeout = data.len == 2};
    if (data.len == 2)
        out->timeout_100ms = get_u16(data.data);
    return data.len == 0 || data.len == 2 ? EDNS_FOUND : EDNS_BAD;
}

enum edns_found edns_find_ede(const struct edns *edns, struct edns_ede *out)
{
    struct span data;
    if (edns_find(edns, EDNS_EDE, &data) == EDNS_ABSENT)
        return EDNS_ABSENT;
    if (!span_take_u16(&data, &out->code))
        return EDNS_BAD;
    out->text = data;
    return EDNS_FOUND;
}

const char *edns_ede_name(uint16_t code)
{
    static const char *const names[] = {
        [EDE_OTHER] = "Other Error",
        [EDE_UNSUPPORTED_DNSKEY_ALGORITHM] = "Unsupported DNSKEY Algorithm",
        [EDE_UNSUPPORTED_DS_DIGEST] = "Unsupported DS Digest Type",
        [EDE_STALE_ANSWER] = "Stale Answer",
        [EDE_FORGED_ANSWER] = "Forged Answer",
        [EDE_DNSSEC_INDETERMINATE] = "DNSSEC Indeterminate",
        [EDE_DNSSEC_BOGUS] = "DNSSEC Bogus",
        [EDE_SIGNATURE_EXPIRED] = "Signature Expired",
        [EDE_SIGNATURE_NOT_YET_VALID] = "Signature Not Yet Valid",
        [EDE_DNSKEY_MISSING] = "DNSKEY Missing",
        [EDE_RRSIGS_MISSING] = "RRSIGs Missing",
        [EDE_NO_ZONE_KEY_BIT] = "No Zone Key Bit Set",
        [EDE_NSEC_MISSING] = "NSEC Missing",
        [EDE_CACHED_ERROR] = "Cached Error",
        [EDE_NOT_READY] = "Not Ready",
        [EDE_BLOCKED] = "Blocked",
        [EDE_CENSORED] = "Censored",
        [EDE_FILTERED] = "Filtered",
        [EDE_PROHIBITED] = "Prohibited",
        [EDE_STALE_NXDOMAIN_ANSWER] = "Stale NXDOMAIN Answer",
        [EDE_NOT_AUTHORITATIVE] = "Not Authoritative",
        [EDE_NOT_SUPPORTED] = "Not Supported",
        [EDE_NO_REACHABLE_AUTHORITY] = "No Reachable Authority",
        [EDE_NETWORK_ERROR] = "Network Error",
        [EDE_INVALID_DATA] = "Invalid Data",
        [EDE_SIGNATURE_EXPIRED_BEFORE_VALID] = "Signature Expired before Valid",
        [EDE_TOO_EARLY] = "Too Early",
        [EDE_UNSUPPORTED_NSEC3_ITERATIONS] = "Unsupported NSEC3 Iterations Value",
        [EDE_UNABLE_TO_CONFORM_TO_POLICY] = "Unable to conform to policy",
        [EDE_SYNTHESIZED] = "Synthesized",
    };
    return code < ARRAY_LEN(names) ? names[code] : "";
}

/* ---- writing ---- */

void edns_add_cookie(struct build *build, const uint8_t *client, struct span server)
{
    MUST(server.len == 0 || is_server_cookie(server.len));
    uint8_t both[EDNS_COOKIE_CLIENT + EDNS_COOKIE_SERVER_MAX];
    memcpy(both, client, EDNS_COOKIE_CLIENT);
    if (server.len)
        memcpy(both + EDNS_COOKIE_CLIENT, server.data, server.len);
    build_option(build, EDNS_COOKIE, both, EDNS_COOKIE_CLIENT + server.len);
}

void edns_add_keepalive_query(struct build *build)
{
    build_option(build, EDNS_TCP_KEEPALIVE, NULL, 0);
}

void edns_add_keepalive_answer(struct build *build, uint16_t timeout_100ms)
{
    uint8_t data[2];
    put_u16(data, timeout_100ms);
    build_option(build, EDNS_TCP_KEEPALIVE, data, sizeof(data));
}

void edns_add_ede(struct build *build, uint16_t code, const char *text)
{
    uint8_t data[2 + 255];
    size_t len = strnlen(text, sizeof(data) - 2);
    put_u16(data, code);
    memcpy(data + 2, text, len);
    build_option(build, EDNS_EDE, data, 2 + len);
}

void edns_add_padding(struct build *build, uint16_t block)
{
    static const uint8_t zeros[EDNS_PADDING_ANSWER];
    MUST(block > 0 && block <= sizeof(zeros));
    if (build_room(build) < 4)
        return;
    size_t with_option = build_len(build) + 4;
    size_t wanted = (block - with_option % block) % block;
    build_option(build, EDNS_PADDING, zeros, MIN(wanted, build_room(build) - 4));
}
