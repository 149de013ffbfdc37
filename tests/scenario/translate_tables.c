/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Names alone; what is written for them is translate.c's. */
#include "scenario/translate_tables.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"

/* Changes nothing that the files look at: features of ours that are always on or off. */
static const char *const harmless[] = {
    "target-fetch-policy",
    "iter-scrub-promiscuous",
    "rrset-roundrobin",
    "fake-sha1",
    "trust-anchor-signaling",
    "harden-referral-path",
    "log-servfail",
    "do-ip4",
    "do-ip6",
    "ede",
    "hide-version",
    "hide-identity",
    "hide-trustanchor",
    "aggressive-nsec",
    "val-override-date",
    "discard-timeout",
    "outbound-msg-retry",
    "verbosity",
    "harden-glue",
    "harden-dnssec-stripped",
    "harden-below-nxdomain",
    "harden-unknown-additional",
    "unwanted-reply-threshold",
    "identity",
    "version",
    "num-threads",
    "do-daemonize",
    "username",
    "chroot",
    "logfile",
    "use-syslog",
    "so-reuseport",
    "infra-cache-min-rtt",
    "infra-cache-max-rtt",
    "max-query-restarts",
    "iter-scrub-ns",
    "iter-scrub-cname",
    "max-global-quota",
    "stub-prime",
    "stub-no-cache",
    "udp-connect",
    "wait-limit",
    "trust-anchor-file",
};

static const struct counterpart counterparts[] = {
    {"cache-min-ttl", IN_CACHE, "min-ttl", "s", NULL},
    {"cache-max-ttl", IN_CACHE, "max-ttl", "s", NULL},
    {"cache-max-negative-ttl", IN_CACHE, "max-negative-ttl", "s", NULL},
    {"cache-min-negative-ttl", IN_CACHE, "min-negative-ttl", "s", NULL},
    {"prefetch", IN_CACHE, "prefetch", "", "no"},
    {"serve-expired", IN_CACHE, "serve-stale", "", "no"},
    {"serve-expired-ttl", IN_CACHE, "serve-stale", "s", "0"},
    {"serve-expired-client-timeout", IN_CACHE, "stale-answer-timeout", "ms", "0"},
    {"minimal-responses", IN_SERVER, "minimal-responses", "", NULL},
    {"use-caps-for-id", IN_RECURSION, "case-randomisation", "", NULL},
    {"qname-minimisation", IN_RECURSION, "qname-minimisation", "", "no"},
};

bool translate_is_harmless(const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (strcmp(harmless[i], option) == 0)
            return true;
    return false;
}

const struct counterpart *translate_find(const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(counterparts); i++)
        if (strcmp(counterparts[i].option, option) == 0)
            return &counterparts[i];
    return NULL;
}
