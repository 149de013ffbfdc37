/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_H
#define NAILUP_CONFIG_CONFIG_H

/*
 * The configuration: the options structs of the modules, filled from one YAML file. A struct config
 * never changes after it is loaded, so all threads share it. Its loader frees it when the last
 * thread has stopped using it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/prefix.h"
#include "cache/cache.h"
#include "dns/name.h"
#include "local/local_names.h"
#include "resolve/dns64.h"
#include "resolve/route_options.h"
#include "rpz/rpz_options.h"
#include "serve/server_options.h"
#include "tap/dnstap_options.h"
#include "transfer/tsig.h"
#include "transfer/xfr_conn.h"
#include "upstream/policy.h"
#include "upstream/upstream_options.h"
#include "validate/zonemd.h"
#include "zone/zone_set.h"

enum {
    /* Bytes of a file: enough for as many items as the rows of options.def allow. */
    CONFIG_FILE_MAX = 32 * 1024 * 1024,
    CONFIG_OPTIONS_MAX = 256, /* rows of options.def */
    CONFIG_ERRORS_MAX = 100,  /* errors reported of one file; the rest is counted */
    CONFIG_SOCKET_MAX = 107,  /* bytes of a socket's path (sun_path and its NUL) */
    CONFIG_HOSTS_MAX = 64,    /* different names of upstreams */
};

/* The bound on the warnings of struct config. */
#define CONFIG_WARNINGS_BYTES (64u * 1024)

/* A buf of this size holds CONFIG_ERRORS_MAX errors. */
#define CONFIG_ERRORS_BYTES (256u * 1024)

/* A position in a file, counted from 1; line 0: not in a file. file counts the included files from
 * 1; 0: the main file. */
struct config_position {
    uint32_t line, column;
    uint16_t file;
};

/* The upstream keys that one place of the file gives: bit n of set is the n-th row of options.def.
 * Other values are undefined. */
struct config_layer {
    uint64_t set[CONFIG_OPTIONS_MAX / 64];
    struct upstream_options values;
};

struct config_access {
    struct prefix prefix;
    enum server_access action;
};

/* Source addresses by IP version, each in the order of the file; NULL: none. */
struct config_outgoing {
    struct sources *v4, *v6;
};

/* A user and a group of the system by number, as config_load() found them; CONFIG_NO_ID if none is
 * named. */
#define CONFIG_NO_ID UINT32_MAX
struct config_account {
    uint32_t uid, gid;
    const char *name; /* the user's name, to find its other groups; "": unknown */
};

/* An entry of tcp-upstream-keepalive. */
struct config_entry {
    struct config_position position;
    struct prefix prefix;
    struct config_layer layer;
};

/* An item of a zone's upstreams. */
struct config_upstream {
    struct config_position position;
    struct addr addr; /* port 0 if the file gives none */
    bool has_port;
    char *auth_name;       /* "": none */
    struct tls_pins *pins; /* NULL: the server has none */
    char *host;            /* the name of the server, whose addr is empty; NULL: it has an addr */
    uint16_t host_port;    /* after the name; 0: none */
    bool tls;              /* primaries only: demanded without a name or pin */
    char *tsig_key;        /* primaries only; NULL or "": none */
};

/* A zone of forward-zones or stub-zones as written in the file; route.zones has it with every rule
 * applied. */
struct config_zone {
    struct config_position position;
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    bool is_stub;
    bool first;
    bool trust_ad; /* forward-zones only */
    bool cache;
    bool validate;
    bool aggressive;
    struct config_upstream *upstreams; /* servers by address */
    size_t upstream_count;
    struct config_upstream *hosts; /* servers by name */
    size_t host_count;
    struct config_layer layer;
};

struct anchors;
struct rpz_policy;
struct config_view;

/* dnssec.update-anchors */
enum config_update { UPDATE_AUTO, UPDATE_NO, UPDATE_YES };
struct name_map;

/* A list of prefixes as written in the file. */
struct config_prefixes {
    struct prefix *list;
    size_t count;
    struct prefix_set *set; /* the same, frozen */
};

/* A list of addresses with ports. */
struct config_servers {
    struct addr *list;
    size_t count;
};

/* A list of names as written in the file. */
struct config_names {
    uint8_t (*list)[NAME_WIRE_MAX];
    size_t count;
    struct name_map *map; /* the same; NULL: the list is empty */
};

enum config_tsig_algorithm {
    CONFIG_HMAC_SHA1,
    CONFIG_HMAC_SHA224,
    CONFIG_HMAC_SHA256,
    CONFIG_HMAC_SHA384,
    CONFIG_HMAC_SHA512,
    CONFIG_HMAC_SHA256_128,
    CONFIG_HMAC_SHA384_192,
    CONFIG_HMAC_SHA512_256,
};

/* A key of tsig-keys. */
struct config_tsig_key {
    struct config_position position;
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    enum config_tsig_algorithm algorithm;
    char *file;
    struct tsig_key key; /* has the secret of the file if files are read */
};

/* The servers that a zone is transferred from. */
struct config_source {
    struct config_upstream *primaries; /* as the file has them */
    size_t primary_count;              /* 0: the zone has a file */
    struct xfr_primary *servers;       /* the same, ready for use */
    struct config_prefixes allow_notify;
};

/* A zone of auth-zones. */
struct config_auth_zone {
    struct config_position position;
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    char *file;                  /* "": the zone comes from its primaries */
    struct config_source source; /* the source of the zone, or of a catalog's members */
    bool catalog;                /* it lists zones (RFC 9432), and answers nothing */
    enum zone_use use;
    bool fallback;
    enum zonemd_mode zonemd;
    uint64_t max_bytes;
    bool is_local_root; /* local-root made it, and the list in the file has no such item */
};

/* A zone of local-zones. */
struct config_local_zone {
    struct config_position position;
    uint8_t wire[NAME_WIRE_MAX]; /* lower case */
    uint8_t name_len;
    enum local_action action;
};

/* A record of local-data. */
struct config_record {
    struct config_position position;
    char *text;
    uint8_t *wire; /* uncompressed */
    size_t len;
};

/* A list of block-lists. */
struct config_block_list {
    struct config_position position;
    char *file;
    enum local_action action;
    struct addr *redirect;
    size_t redirect_count;
};

/* A zone of rpz. */
struct config_rpz_zone {
    struct config_position position;
    struct rpz_zone_options options;
    char *file; /* "": the zone has primaries */
    struct config_source source;
    bool catalog; /* it lists zones of policy (RFC 9432), and has primaries */
};

/* Response policy: the settings in the file, and the policy made of them. */
struct config_rpz {
    struct config_rpz_zone *zones;
    size_t count;
    bool wait_recurse;
    /* With the rules of the files; zones with primaries have none yet. NULL: no zones. */
    struct rpz_policy *policy;
};

struct config {
    /* The options of the modules. */
    struct server_options server;
    struct cache_options cache;
    struct route_options route;
    struct policy policy; /* for the servers that recursion discovers */
    uint32_t included;    /* the number of included files */
    uint32_t workers;     /* 0: one per CPU that this process may use */
    uint32_t max_nailed;
    bool follow_network;
    char *user; /* server.user; "": none */
    struct config_account run_as;
    char *control_socket; /* "": none */
    char *control_owner, *control_group;
    uint16_t control_mode;
    struct config_account control_account; /* owner and group of the socket, with run_as applied */
    struct addr metrics_listen;            /* family 0: none */
    char *session_file;                    /* TLS sessions; "": none */
    char *snapshot_file;                   /* cache; "": none */
    char *host_file;                       /* addresses of upstreams by name; "": none */
    uint32_t snapshot_interval_s;
    char *tls_key_log; /* "": none */
    enum log_level log_level;
    enum log_format log_format;
    bool log_queries;
    bool log_failures;
    struct dnstap_options dnstap;

    bool is_blank; /* the file has no option */

    /* The contents of the file that the options above are made of. */
    struct upstream_options upstream; /* the section upstream, defaults included */
    uint32_t keepalive_max_requests;
    struct config_outgoing outgoing;
    struct config_access *access;
    size_t access_count;
    struct config_entry *entries;
    size_t entry_count;
    struct prefix_set *entry_set; /* frozen; values are indices of entries */
    struct config_zone *zones;    /* forward-zones; they come first in route.zones */
    size_t zone_count;
    struct config_zone *stub_zones; /* stub-zones; they come next in route.zones */
    size_t stub_count;
    struct config_auth_zone *auth_zones;
    size_t auth_zone_count;
    bool local_root;          /* its zone is in auth_zones, too */
    char *transfer_directory; /* "": none */
    struct config_tsig_key *tsig_keys;
    size_t tsig_key_count;
    bool recursion_ipv4, recursion_ipv6; /* the IP versions that recursion uses */
    struct config_servers bootstrap;     /* resolve the names of upstreams */
    const char *hosts[CONFIG_HOSTS_MAX]; /* all names of upstreams, each once, in lower case */
    size_t host_count;
    struct config_prefixes do_not_query, private_addresses;
    struct config_prefixes proxy_from;

    /* DNS64: as written in the file, and what server.dns64 points to. */
    struct prefix dns64_prefix; /* length 0: no DNS64 */
    struct config_prefixes dns64_exclude, dns64_clients;
    struct config_names dns64_ignored;
    struct dns64_options dns64;

    struct prefix_set *own_set; /* the own addresses of policy, owned here */
    struct config_names private_domains;

    /* DNSSEC: as written in the file, and the table made of it. */
    char **trust_anchors; /* records */
    size_t trust_anchor_count;
    char *trust_anchor_file; /* "": none */
    enum config_update update_anchors;
    bool keeps_anchors;   /* the file is to be kept up to date */
    bool is_root_revoked; /* the file says that all keys of the root were revoked */
    struct config_names negative_anchors;
    struct anchors *anchors; /* the anchors in route.validation */

    /* Local data: as written in the file, and the table made of it. */
    bool default_local_zones;
    struct config_local_zone *local_zones;
    size_t local_zone_count;
    struct config_record *records;
    size_t record_count;
    char *hosts_file; /* "": none */
    bool block_aliases;
    struct config_block_list *block_lists;
    size_t block_list_count;
    struct local_names *local;

    struct config_rpz rpz;
    struct config_view *views;
    size_t view_count;
    struct view_set view_set;    /* the view_set of route, made from the views */
    const char **space_texts;    /* for each space of view_set: equal texts mean equal settings */
    struct local_names **tables; /* the tables of views and spaces, owned */
    size_t table_count;

    /* Lines that could not be read in hosts files and block lists, and settings that are probably
     * mistakes: one line each, FILE:LINE:COLUMN: warning: ... */
    struct buf warnings;

    /* Indexed by row of options.def: the position of the key in the file. */
    struct config_position written[CONFIG_OPTIONS_MAX];
    struct arena arena; /* holds every array above */
};

/* A view. `part` has the keys that are also allowed at the top of a file, and the same loaders fill
 * it. After loading, its other members are copies of the file's. */
struct config_view {
    struct config_position position;
    char *name;
    struct config_prefixes clients;
    bool inherit_local;
    struct config_names policy_zones;
    struct config part;
};

/* Whether the view gives the key with this path of options.def. */
bool config_view_gives(const struct config_view *view, const char *path);

/*
 * Reads the file at path. ERR_OK: *out is the configuration. ERR_INVALID: *out is NULL, and errors
 * has a line for each error in the order of the file: `FILE:LINE:COLUMN: error: PATH: sentence`. If
 * the file or a file that it names cannot be read, that is such an error too. Only this function
 * reads the hosts file and block lists, and tries certificates and keys. ERR_NO_MEMORY is reported
 * in errors as well. errors belongs to the caller; CONFIG_ERRORS_BYTES are enough, and lines that
 * do not fit are dropped. Any thread.
 */
MUST_USE enum err config_load(const char *path, struct config **out, struct buf *errors);

/* Like config_load() for text in memory, without reading any file; errors call the text file_name.
 */
MUST_USE enum err config_parse(const char *file_name, const char *text, size_t len,
                               struct config **out, struct buf *errors);

/* Like config_parse(), but reads the files that the text names, like config_load(). */
MUST_USE enum err config_parse_with_files(const char *file_name, const char *text, size_t len,
                                          struct config **out, struct buf *errors);

/* Whether the file gives the key with this path of options.def; if not, the key has its default. */
bool config_is_given(const struct config *config, const char *path);

/* Whether some name is resolved by recursion from the root: recursion is enabled, and no zone "."
 * takes all names without falling back to it. */
bool config_has_recursion(const struct config *config);

/* Returns whether the wall clock is certainly wrong: earlier than validation.clock_min_s. False for
 * NULL. */
bool config_clock_is_wrong(const struct config *config);

/* NULL is fine. */
void config_free(struct config *config);

/* Appends the effective configuration as YAML that loads back to the same (--print-config).
 * ERR_LIMIT if it does not fit out; four times CONFIG_FILE_MAX is always enough. */
MUST_USE enum err config_print(const struct config *config, struct buf *out);

#endif
