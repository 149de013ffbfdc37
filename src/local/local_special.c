/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The list of special-use names and their few records. */
#include "local/local_special.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"

struct special {
    const char *name;
    enum local_action action;
    bool is_delegated; /* below arpa: the parent can prove that the zone is not signed */
};

static const struct special specials[] = {
    {"localhost", LOCAL_REDIRECT, false},
    {"invalid", LOCAL_NXDOMAIN, false},
    {"test", LOCAL_NXDOMAIN, false},
    {"onion", LOCAL_NXDOMAIN, false},
    {"local", LOCAL_NXDOMAIN, false},
    {"home.arpa", LOCAL_NXDOMAIN, true},
    {"service.arpa", LOCAL_NXDOMAIN, true},
    {"resolver.arpa", LOCAL_NODATA, true}, /* RFC 9462 section 6.4: no designated resolvers */
    /* RFC 1918 */
    {"10.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"168.192.in-addr.arpa", LOCAL_NXDOMAIN, true},
    /* RFC 6303 section 4.2 */
    {"0.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"127.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"254.169.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"2.0.192.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"100.51.198.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"113.0.203.in-addr.arpa", LOCAL_NXDOMAIN, true},
    {"255.255.255.255.in-addr.arpa", LOCAL_NXDOMAIN, true},
    /* RFC 6303 sections 4.3 to 4.6: :: and ::1, local, link-local and documentation addresses */
    {"0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", LOCAL_NXDOMAIN,
     true},
    {"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa", LOCAL_NXDOMAIN,
     true},
    {"d.f.ip6.arpa", LOCAL_NXDOMAIN, true},
    {"8.e.f.ip6.arpa", LOCAL_NXDOMAIN, true},
    {"9.e.f.ip6.arpa", LOCAL_NXDOMAIN, true},
    {"a.e.f.ip6.arpa", LOCAL_NXDOMAIN, true},
    {"b.e.f.ip6.arpa", LOCAL_NXDOMAIN, true},
    {"8.b.d.0.1.0.0.2.ip6.arpa", LOCAL_NXDOMAIN, true},
};

static struct name parse_constant(const char *text, uint8_t out[NAME_WIRE_MAX])
{
    struct name name;
    MUST(name_parse(&name, out, text, strlen(text)) == ERR_OK);
    return name;
}

/* Writes the SOA of RFC 6303 section 3: the zone is its own server. */
static struct span soa_rdata(struct name zone, uint8_t out[2 * NAME_WIRE_MAX + 20])
{
    static const uint8_t rname[] = "\6nobody\7invalid";
    static const uint32_t numbers[] = {1, 3600, 1200, 604800, LOCAL_SPECIAL_TTL_S};
    size_t len = zone.len;
    memcpy(out, zone.wire, len);
    memcpy(out + len, rname, sizeof(rname));
    len += sizeof(rname);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++, len += 4)
        put_u32(out + len, numbers[i]);
    return span_of(out, len);
}

/* Adds a zone with SOA and NS. *is_taken: the operator configured the name. */
static enum err add_special_zone(struct local_build *build, const struct special *special,
                                 bool *is_taken)
{
    uint8_t wire[NAME_WIRE_MAX], soa[2 * NAME_WIRE_MAX + 20];
    struct name name = parse_constant(special->name, wire);
    enum err err =
        local_build_special(build, name, special->action, special->is_delegated, is_taken);
    if (err || *is_taken)
        return err;
    err = local_build_special_rr(build, name, RRTYPE_NS, span_of(name.wire, name.len));
    return err ? err : local_build_special_rr(build, name, RRTYPE_SOA, soa_rdata(name, soa));
}

static enum err add_special_rr(struct local_build *build, const char *owner, uint16_t type,
                               struct span rdata)
{
    uint8_t wire[NAME_WIRE_MAX];
    return local_build_special_rr(build, parse_constant(owner, wire), type, rdata);
}

/* Adds the loopback addresses (RFC 6761 section 6.3) and their names. */
static enum err add_special_records(struct local_build *build, const char *zone)
{
    static const uint8_t v4[4] = {127, 0, 0, 1}, v6[16] = {[15] = 1};
    static const uint8_t localhost[] = "\11localhost";
    struct span target = span_of(localhost, sizeof(localhost));
    if (strcmp(zone, "localhost") == 0) {
        enum err err = add_special_rr(build, zone, RRTYPE_A, span_of(v4, sizeof(v4)));
        return err ? err : add_special_rr(build, zone, RRTYPE_AAAA, span_of(v6, sizeof(v6)));
    }
    if (strcmp(zone, "127.in-addr.arpa") == 0)
        return add_special_rr(build, "1.0.0.127.in-addr.arpa", RRTYPE_PTR, target);
    if (zone[0] == '1' && zone[1] == '.' && strstr(zone, ".ip6.arpa"))
        return add_special_rr(build, zone, RRTYPE_PTR, target);
    return ERR_OK;
}

static enum err add_special_name(struct local_build *build, const struct special *special)
{
    bool is_taken;
    enum err err = add_special_zone(build, special, &is_taken);
    return err || is_taken ? err : add_special_records(build, special->name);
}

/* Adds "<number>.<rest>" for each number of a range. */
static enum err add_range(struct local_build *build, unsigned first, unsigned last,
                          const char *rest)
{
    enum err err = ERR_OK;
    for (unsigned i = first; i <= last && !err; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%u.%s", i, rest);
        err = add_special_name(build, &(struct special){name, LOCAL_NXDOMAIN, true});
    }
    return err;
}

enum err local_special_add(struct local_build *build)
{
    enum err err = ERR_OK;
    for (size_t i = 0; i < ARRAY_LEN(specials) && !err; i++)
        err = add_special_name(build, &specials[i]);
    if (!err)
        err = add_range(build, 16, 31, "172.in-addr.arpa"); /* RFC 1918 */
    if (!err)
        err = add_range(build, 64, 127, "100.in-addr.arpa"); /* RFC 7793 */
    return err;
}
