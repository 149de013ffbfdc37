/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "fuzz/worker/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "config/config.h"
#include "fuzz/worker/signing.h"

#define SERVER(more)                                                                               \
    "server:\n"                                                                                    \
    "  listen: [127.0.0.1@53]\n"                                                                   \
    "  access: [{prefix: 127.0.0.0/8, action: allow}, {prefix: 127.66.0.0/16, action: refuse},"    \
    " {prefix: 127.67.0.0/16, action: drop}]\n" more
#define SERVER_TLS                                                                                 \
    "  listen-tls: [127.0.0.1@853]\n"                                                              \
    "  tls-certificate: CERT\n"                                                                    \
    "  tls-key: CERT\n"
#define CACHE "cache: {size: 1MiB}\n"
#define FORWARD(more)                                                                              \
    "forward-zones:\n"                                                                             \
    "  - {name: ., upstreams: [10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4]" more "}\n" RECURSION("")
#define FORWARD_TLS(more)                                                                          \
    "forward-zones:\n"                                                                             \
    "  - {name: ., transport: tls, upstreams: [\"10.1.0.1#dns.test\", \"10.1.0.2#dns.test\","      \
    " \"10.1.0.3#dns.test\", \"10.1.0.4#dns.test\"]" more "}\n" RECURSION("")
#define SIGNED "dnssec: {validate: yes, aggressive: yes, trust-anchors: [\"ANCHOR\"]}\n"
#define SIGNED_WITH(more) "dnssec: {validate: yes, trust-anchors: [\"ANCHOR\"" more "}\n"
#define FORWARD_ALL                                                                                \
    "forward-zones:\n"                                                                             \
    "  - {name: ., upstreams: [10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4]}\n"                         \
    "recursion: {root-hints: HINTS}\n"
/* These lines are in all plans, because questions in flight during a reload still begin at the
 * root. */
#define RECURSION(more) "recursion: {root-hints: HINTS" more "}\ndnssec: {validate: no}\n"

const struct plan plans[] = {
    {.name = "udp", .yaml = SERVER("") CACHE FORWARD("")},
    {.name = "nailed",
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.0/16]\n"
                              "tcp-upstream-keepalive-maxrequests: 50\n"
                              "upstream: {connections: 2}\n" FORWARD("")},
    {.name = "nailed, no fallback",
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.0/16]\n"
                              "upstream: {fallback: none, max-requests: 7, max-age: 20s,"
                              " idle-timeout: 5s, max-in-flight: 16, hold: no}\n" FORWARD("")},
    {.name = "strict",
     .is_tls = true,
     .is_strict = true,
     .yaml =
         SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.0/16]\n"
                          "upstream: {ca-bundle: CA-FILE, max-requests: 100}\n" FORWARD_TLS("")},
    {.name = "opportunistic",
     .is_tls = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.0/16]\n"
                              "upstream: {profile: opportunistic, early-data: yes,"
                              " max-requests: 30}\n" FORWARD_TLS("")},
    {.name = "recursion", .recurses = true, .yaml = SERVER("") CACHE RECURSION("")},
    {.name = "nailed recursion",
     .recurses = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.2.0.0/16, \"fd02::/16\"]\n"
                              "tcp-upstream-keepalive-maxrequests: 20\n"
                              "upstream: {max-nailed: 6}\n" RECURSION(", prefer-ip: 6")},
    {.name = "mixed",
     .recurses = true,
     .yaml = SERVER("") CACHE
     "tcp-upstream-keepalive: [10.1.0.1]\n"
     "forward-zones:\n"
     "  - {name: fwd, upstreams: [10.1.0.1, 10.1.0.2], first: yes}\n"
     "stub-zones:\n"
     "  - {name: stub, upstreams: [10.3.0.1, 10.3.0.2], first: yes}\n" RECURSION(
         ", priming: no, private-addresses: [192.168.0.0/16]")},
    {.name = "tight",
     .is_bounded = true,
     .yaml = SERVER("  max-waiting: 12\n"
                    "  max-waiting-per-client: 5\n"
                    "  max-clients: 5\n"
                    "  max-clients-per-address: 2\n"
                    "  client-idle-timeout: 1s\n"
                    "  rate-limit: {queries-per-second: 20, slip: 2, clients: 8}\n"
                    "  rotate-answers: yes\n") "cache: {size: 1MiB, serve-stale: 0s, max-ttl: 30s, "
                                               "failure-ttl: 1s}\n"
                                               "upstream: {transport: tcp, max-connections: 2, "
                                               "max-in-flight: 4, query-timeout: 500ms,"
                                               " stall-timeout: 1s}\n" FORWARD("")},
    /* These servers sign nothing, so each validation waits for keys and DS records, asks further
     * servers, and fails. The mode `log` keeps the answers as they are. */
    {.name = "forwarding, validated",
     .recurses = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.1, 10.1.0.2]\n"
                              "upstream: {max-requests: 20}\n"
                              "forward-zones:\n"
                              "  - {name: ., upstreams: [10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4]}\n"
                              "recursion: {root-hints: HINTS}\n"
                              "dnssec: {validate: log}\n"},
    {.name = "recursion, validated",
     .recurses = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.2.0.0/16]\n"
                              "recursion: {root-hints: HINTS}\n"
                              "dnssec: {validate: log, negative-trust-anchors: [a.t1]}\n"},
    {.name = "forwarding, signed",
     .recurses = true,
     .is_signed = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.1, 10.1.0.2]\n"
                              "upstream: {max-requests: 20}\n"
                              "forward-zones:\n"
                              "  - {name: ., upstreams: [10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4]}\n"
                              "recursion: {root-hints: HINTS}\n" SIGNED},
    {.name = "recursion, signed",
     .recurses = true,
     .is_signed = true,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.2.0.0/16]\n"
                              "recursion: {root-hints: HINTS}\n" SIGNED},
    {.name = "dot",
     .serves_tls = true,
     .yaml = SERVER(
         SERVER_TLS) "cache: {size: 1MiB, stale-answer-timeout: 0s}\n"
                     "upstream: {transport: tcp, idle-timeout: 1s, max-requests: 1}\n" FORWARD("")},
    /* The plans of hostile plays. */
    {.name = "hostile: recursion",
     .recurses = true,
     .is_signed = true,
     .yaml = SERVER("") CACHE "recursion: {root-hints: HINTS}\n" SIGNED},
    {.name = "hostile: forwarding",
     .recurses = true,
     .is_signed = true,
     .yaml = SERVER("") CACHE FORWARD_ALL SIGNED_WITH("]")},
    {.name = "hostile: a deeper anchor",
     .recurses = true,
     .is_signed = true,
     .yaml = SERVER("") CACHE FORWARD_ALL SIGNED_WITH(", \"DEEPER\"]")},
    {.name = "hostile: zones without validation",
     .recurses = true,
     .is_signed = true,
     .has_unvalidated = true,
     .unchecked = 1 << ZONE_FWD | 1 << ZONE_STUB | 1 << ZONE_SUB_STUB,
     .yielding = 1 << ZONE_A_T0,
     .yaml = SERVER("") CACHE "tcp-upstream-keepalive: [10.1.0.1, 10.1.0.2]\n"
                              "forward-zones:\n"
                              "  - {name: a.t0, upstreams: [10.1.0.1, 10.1.0.2]}\n"
                              "  - {name: fwd, upstreams: [10.1.0.1, 10.1.0.2], validate: no}\n"
                              "stub-zones:\n"
                              "  - {name: stub, upstreams: [10.3.0.1, 10.3.0.2], validate: no}\n"
                              "recursion: {root-hints: HINTS}\n" SIGNED_WITH("]")},
    {.name = "hostile: recursion with negative anchors",
     .recurses = true,
     .is_signed = true,
     .unchecked = 1 << ZONE_T1 | 1 << ZONE_A_T1 | 1 << ZONE_B_T0,
     .yaml = SERVER("") CACHE
     "recursion: {root-hints: HINTS}\n" SIGNED_WITH("], negative-trust-anchors: [t1, b.t0]")},
    {.name = "hostile: forwarding with negative anchors",
     .recurses = true,
     .is_signed = true,
     .unchecked = 1 << ZONE_T1 | 1 << ZONE_A_T1 | 1 << ZONE_FWD,
     .yaml = SERVER("") CACHE FORWARD_ALL SIGNED_WITH("], negative-trust-anchors: [t1, fwd]")},
};
enum { PLANS_HOSTILE = 6 };
static const size_t plan_count = ARRAY_LEN(plans);

const struct plan *plan_choose(bool is_hostile, unsigned choice)
{
    size_t ordinary = plan_count - PLANS_HOSTILE;
    return &plans[is_hostile ? ordinary + choice % PLANS_HOSTILE : choice % ordinary];
}

uint16_t plans_unchecked(void)
{
    uint16_t unchecked = 0;
    for (size_t i = 0; i < plan_count; i++)
        unchecked |= plans[i].unchecked | plans[i].yielding;
    return unchecked;
}

static struct {
    struct tls_certs *ca;
    struct tls_cert *certificate, *other;
    char *ca_path, *hints_path;
    struct config *configs[ARRAY_LEN(plans)];
} made;

static const char hints[] = ". 3600000 NS ns0.\n"
                            ". 3600000 NS ns1.\n"
                            "ns0. 3600000 A 10.2.0.1\n"
                            "ns1. 3600000 A 10.2.0.2\n";

static void unmake(void)
{
    for (size_t i = 0; i < plan_count; i++)
        config_free(made.configs[i]);
    tls_certs_free_cert(made.certificate);
    tls_certs_free_cert(made.other);
    tls_certs_free(made.ca);
    unlink(made.ca_path);
    unlink(made.hints_path);
    free(made.ca_path);
    free(made.hints_path);
}

static void make(void)
{
    if (made.ca)
        return;
    made.ca = tls_certs_authority("Test CA");
    made.ca_path = tls_certs_file(tls_certs_pem(made.ca));
    made.hints_path = tls_certs_file(hints);
    made.certificate = tls_certs_make(&(struct tls_cert_wish){.ca = made.ca, .name = "dns.test"});
    made.other = tls_certs_make(&(struct tls_cert_wish){.name = "other.test"});
    tls_certs_write(made.certificate);
    atexit(unmake);
}

const struct tls_cert *plans_certificate(void)
{
    make();
    return made.certificate;
}

const struct tls_cert *plans_other_certificate(void)
{
    make();
    return made.other;
}

/* Returns the text with each occurrence of word replaced. Frees the old text. */
static char *replace(char *text, const char *word, const char *by)
{
    for (char *at; (at = strstr(text, word));) {
        char *whole;
        MUST(asprintf(&whole, "%.*s%s%s", (int)(at - text), text, by, at + strlen(word)) >= 0);
        free(text);
        text = whole;
    }
    return text;
}

static struct config *parse(const struct plan *plan)
{
    struct config *config;
    struct buf errors;
    make();
    char *text = replace(strdup(plan->yaml), "CERT", made.certificate->path);
    text = replace(replace(text, "CA-FILE", made.ca_path), "HINTS", made.hints_path);
    text = replace(text, "ANCHOR", signing_anchor(ZONE_ROOT));
    text = replace(text, "DEEPER", signing_anchor(ZONE_A_T0));
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    if (config_parse_with_files(plan->name, text, strlen(text), &config, &errors)) {
        struct span why = buf_span(&errors);
        fprintf(stderr, "%.*s\n", (int)why.len, (const char *)why.data);
        abort();
    }
    /* because a build must behave the same on every day */
    config->route.validation.clock_min_s = 0;
    buf_deinit(&errors);
    free(text);
    return config;
}

const struct config *plan_config(const struct plan *plan)
{
    struct config **config = &made.configs[plan - plans];
    if (!*config)
        *config = parse(plan);
    return *config;
}
