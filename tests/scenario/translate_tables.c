/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Contains only names. translate.c decides what to write for them. */
#include "scenario/translate_tables.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"

/* Options without effect on the scenarios: features that nailup always has, or never. */
static const char *const harmless[] = {
    "target-fetch-policy",
    "rrset-roundrobin",
    "fake-sha1",
    "trust-anchor-signaling",
    "log-servfail",
    "ede",
    "ede-serve-expired",
    "hide-trustanchor",
    "discard-timeout",
    "outbound-msg-retry",
    "verbosity",
    "harden-glue",
    "harden-dnssec-stripped",
    "harden-unknown-additional",
    "unwanted-reply-threshold",
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
    "iter-scrub-cname",
    "max-global-quota",
    "udp-connect",
    "wait-limit",
    "log-time-ascii",
    "log-queries",
    "log-replies",
    "val-log-level",
    "do-udp",
    "do-tcp",
    "port",
    "interface",
    "outgoing-interface",
    "outgoing-range",
    "outgoing-num-tcp",
    "incoming-num-tcp",
    "edns-buffer-size",
    "max-udp-size",
    "msg-cache-size",
    "msg-cache-slabs",
    "rrset-cache-size",
    "rrset-cache-slabs",
    "infra-cache-slabs",
    "infra-cache-numhosts",
    "infra-host-ttl",
    "infra-keep-probing",
    "key-cache-size",
    "neg-cache-size",
    "jostle-timeout",
    "delay-close",
    "unknown-server-time-limit",
    "harden-large-queries",
    "harden-short-bufsize",
    "harden-algo-downgrade",
    "harden-unverified-glue",
    "harden-below-nxdomain",
    "low-rtt",
    "low-rtt-permil",
    "fast-server-num",
    "fast-server-permil",
    "val-clean-additional",
    "val-bogus-ttl",
    "val-permissive-mode",
    "val-nsec3-keysize-iterations",
    "val-max-restart",
    "root-key-sentinel",
    "deny-any",
    "tcp-idle-timeout",
    "sock-queue-timeout",
    "extended-statistics",
    "statistics-interval",
    "statistics-cumulative",
    "insecure-lan-zones",
    "unblock-lan-zones",
    "pad-responses",
};

static const struct counterpart counterparts[] = {
    {"cache-min-ttl", IN_CACHE, "min-ttl", "s", NULL},
    {"cache-max-ttl", IN_CACHE, "max-ttl", "s", NULL},
    {"cache-max-negative-ttl", IN_CACHE, "max-negative-ttl", "s", NULL},
    {"cache-min-negative-ttl", IN_CACHE, "min-negative-ttl", "s", NULL},
    {"prefetch", IN_CACHE, "prefetch", "", NULL},
    {"serve-expired-client-timeout", IN_CACHE, "stale-answer-timeout", "ms", NULL},
    {"minimal-responses", IN_SERVER, "minimal-responses", "", NULL},
    {"use-caps-for-id", IN_RECURSION, "case-randomisation", "", NULL},
    {"qname-minimisation", IN_RECURSION, "qname-minimisation", "", NULL},
    {"identity", IN_SERVER, "identity", "", NULL},
    {"version", IN_SERVER, "version", "", NULL},
    {"serve-expired-reply-ttl", IN_CACHE, "stale-answer-ttl", "s", NULL},
    {"nsid", IN_SERVER, "nsid", "", NULL},
    {"dns64-prefix", IN_DNS64, "prefix", "", NULL},
};

/* Options of features that nailup lacks. */
static const struct {
    const char *option, *off;
} offs[] = {
    {"iter-scrub-ns", "20"},
    {"hide-version", "no"},
    {"hide-identity", "no"},
    {"hide-trustanchor", "yes"},
    {"trust-anchor-signaling", "no"},
    {"use-systemd", "no"},
    {"do-nat64", "no"},
    {"serve-original-ttl", "no"},
    {"serve-expired-ttl-reset", "no"},
    {"qname-minimisation-strict", "no"},
    {"harden-referral-path", "no"},
    {"disable-edns-do", "no"},
    {"do-not-query-localhost", "yes"},
    {"tcp-upstream", "no"},
    {"tls-upstream", "no"},
    {"ssl-upstream", "no"},
    {"ignore-cd-flag", "no"},
    {"ratelimit", "0"},
    {"ip-ratelimit", "0"},
    {"dns64-synthall", "no"},
    {"ipsecmod-enabled", "no"},
    {"block-a", "no"},
};

bool translate_is_harmless(const char *option)
{
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (strcmp(harmless[i], option) == 0)
            return true;
    return false;
}

bool translate_is_off(const char *option, const char *value)
{
    for (size_t i = 0; i < ARRAY_LEN(offs); i++)
        if (strcmp(offs[i].option, option) == 0 && strcmp(offs[i].off, value) == 0)
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
