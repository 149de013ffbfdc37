/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_OPTIONS_H
#define NAILUP_SERVE_SERVER_OPTIONS_H

/* The options for serving clients: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/prefix.h"
#include "rpz/rpz_choice.h"
#include "serve/cookie_secrets.h"

/* Values of the access list. An address in no prefix is refused. A query without RD is answered
 * from local data; the cache answers it only for SERVER_SNOOP, because it shows what others asked
 * for. */
enum server_access { SERVER_ALLOW, SERVER_REFUSE, SERVER_DROP, SERVER_SNOOP };

/* Returns whether queries of the client get answers. */
static inline bool server_may_ask(enum server_access access)
{
    return access == SERVER_ALLOW || access == SERVER_SNOOP;
}

/* Where proxies put their header on connections with TLS. */
enum server_proxy_tls { PROXY_OUTSIDE_TLS, PROXY_INSIDE_TLS };

struct dns64_options;
/* The settings of a view for its clients (view_choice.h). */
struct server_view {
    const char *name;
    struct prefix_set *access; /* frozen; values are enum server_access. NULL: the common one */
    bool limits_rate;          /* rate_limit_qps replaces the common limit */
    uint32_t rate_limit_qps;   /* 0: no limit */
    uint32_t policy_zones;     /* a choice of server_options.policy_choices */
};

/* The views at one listener. */
struct server_view_listener {
    struct addr listen;       /* family 0: all listeners that no view names */
    struct prefix_set *views; /* frozen; values are numbers of views */
};

struct server_options {
    struct addr *listen; /* UDP and TCP */
    size_t listen_count;
    struct addr *listen_tls; /* DNS over TLS */
    size_t listen_tls_count;
    struct addr *listen_https; /* DNS over HTTPS */
    size_t listen_https_count;
    char *https_path;
    bool freebind;             /* all lists: also addresses that this machine does not have yet */
    char *tls_certificate;     /* PEM file of the chain, the server's own first; "": none */
    char *tls_key;             /* PEM file */
    char *tls_ciphers;         /* as in struct tls_peer_options */
    char *tls_groups;          /* likewise */
    char *version;             /* of version.bind in class CHAOS; NULL or "": REFUSED */
    char *identity;            /* of id.server, likewise */
    char *nsid;                /* of RFC 5001, in the form of nsid.h; NULL or "": none */
    struct prefix_set *access; /* frozen; values are enum server_access */
    /* The hosts that put a PROXY header before each datagram and on each connection. Frozen; NULL:
     * none. */
    const struct prefix_set *proxies;
    enum server_proxy_tls proxy_tls;
    const struct dns64_options *dns64; /* resolve/dns64.h; NULL: no AAAA records are made */
    uint16_t max_udp_size;
    bool rotate_answers;
    uint64_t client_idle_timeout_us;
    uint32_t max_clients;             /* stream connections of the process */
    uint32_t max_clients_per_address; /* stream connections of one client prefix */
    uint64_t max_stream_memory;       /* bytes that all stream connections hold; 0: no bound */
    uint32_t max_waiting;             /* waiting client queries of the process */
    uint32_t max_waiting_per_client;
    uint64_t discard_timeout_us; /* of UDP queries of a client with many waiting; 0: none */
    uint16_t client_prefix_v4;   /* bits of an address that make a client: client_prefix.h */
    uint16_t client_prefix_v6;
    uint32_t rate_limit_qps;  /* of a client over UDP without a cookie of ours; 0: no limit */
    uint32_t rate_limit_slip; /* one in this many queries above it gets a small answer; 0: none */
    uint32_t rate_limit_clients;          /* clients that are counted at once */
    bool cookies;                         /* RFC 7873 */
    char *cookie_secret_file;             /* "": secrets of the process */
    struct cookie_secrets cookie_secrets; /* of that file; none without one */
    struct server_view *views;
    size_t view_count;
    struct server_view_listener *view_listeners;
    size_t view_listener_count;
    struct rpz_choices policy_choices;
};

/* Whether clients need a certificate. */
static inline bool server_options_have_tls(const struct server_options *options)
{
    return options->listen_tls_count > 0 || options->listen_https_count > 0;
}

#endif
