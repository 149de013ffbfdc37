/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Tries the files and words for TLS that the configuration names, so that `nailupd -t` finds errors
 * that would only show at the first connection. Makes a context for each different set of
 * authorities, certificate, ciphers and groups, however many zones share it, and frees it.
 * Invariant: at most TLS_CONTEXTS_MAX sets are tried.
 */
#include "config/config_check_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config_accounts.h"
#include "config/config_check_written.h"
#include "config/config_cookie_secrets.h"
#include "config/config_hints.h"
#include "config/config_upstream.h"
#include "config/place.h"
#include "tls/tls_context.h"
#include "tls/tls_contexts.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

/* ---- the parts of a context ---- */

/* A set to try, and the keys that name its parts in an error. */
struct attempt {
    struct place place;
    const struct config_layer
        *layer; /* the layer with the keys; NULL: a section, which gives all of them */
    const char *ca_bundle_key, *certificate_key, *key_key, *ciphers_key, *groups_key;
    struct tls_peer_options options;
};

static bool attempt_gives_row(const struct attempt *attempt, const struct option *row)
{
    return !attempt->layer || option_in_layer(row, attempt->layer);
}

static enum err try_client(const struct tls_peer_options *options, char why[TLS_WHY_MAX])
{
    struct tls_context *context = NULL;
    enum err err = tls_context_client(&context, options, why);
    tls_context_free(context);
    return err;
}

/* ---- which key is at fault ---- */

/* Whether the sentence names a before b. One path may be the beginning of the other. */
static bool is_named_first(const char *why, const char *a, const char *b)
{
    const char *a_at = loader_is_set(a) ? strstr(why, a) : NULL;
    const char *b_at = loader_is_set(b) ? strstr(why, b) : NULL;
    if (!a_at || !b_at || a_at == b_at)
        return a_at && (!b_at || strlen(a) > strlen(b));
    return a_at < b_at;
}

/* Reports the other file of a pair too if it cannot be read. */
static void report_other(struct loader *loader, const struct attempt *attempt, bool is_key)
{
    char *text = NULL, why[TLS_WHY_MAX];
    size_t len = 0;
    const char *path = is_key ? attempt->options.key : attempt->options.certificate;
    if (loader_is_set(path) && tls_read_file(path, &text, &len, why))
        place_error(loader, &attempt->place, is_key ? attempt->key_key : attempt->certificate_key,
                    "%s", why);
    tls_file_free(&text, len);
}

/* Reports a key only at the place that gives it, because other places were tried already. The
 * failure of a default is reported without a key. */
static void report_one(struct loader *loader, const struct attempt *attempt, const char *key,
                       const struct option *row, const char *value, const char *why)
{
    if (attempt_gives_row(attempt, row) || !loader_is_set(value))
        place_error(loader, &attempt->place, loader_is_set(value) ? key : NULL, "%s", why);
}

static void report_pair(struct loader *loader, const struct attempt *attempt, const char *why)
{
    const struct tls_peer_options *options = &attempt->options;
    bool gives_certificate = attempt_gives_row(attempt, ROW(tls.certificate));
    bool gives_key = attempt_gives_row(attempt, ROW(tls.key));
    bool is_key = gives_key &&
                  (!gives_certificate || is_named_first(why, options->key, options->certificate));
    if (gives_certificate || gives_key)
        place_error(loader, &attempt->place, is_key ? attempt->key_key : attempt->certificate_key,
                    "%s", why);
    if (gives_certificate && gives_key)
        report_other(loader, attempt, !is_key);
}

/* Adds one part after another until the context fails. False: it does not fail. */
static bool report_parts(struct loader *loader, const struct attempt *attempt)
{
    const struct tls_peer_options *all = &attempt->options;
    struct tls_peer_options some = {.ca_bundle = all->ca_bundle};
    char why[TLS_WHY_MAX];
    if (attempt->ca_bundle_key && try_client(&some, why)) {
        report_one(loader, attempt, attempt->ca_bundle_key, ROW(tls.ca_bundle), all->ca_bundle,
                   why);
        return true;
    }
    some.certificate = all->certificate;
    some.key = all->key;
    if (try_client(&some, why)) {
        report_pair(loader, attempt, why);
        return true;
    }
    some.ciphers = all->ciphers;
    if (try_client(&some, why)) {
        report_one(loader, attempt, attempt->ciphers_key, ROW(tls.ciphers), all->ciphers, why);
        return true;
    }
    some.groups = all->groups;
    if (try_client(&some, why)) {
        report_one(loader, attempt, attempt->groups_key, ROW(tls.groups), all->groups, why);
        return true;
    }
    return false;
}

static void report_tls_attempt(struct loader *loader, const struct attempt *attempt,
                               const char *why)
{
    if (problems_is_full(loader->problems) || !report_parts(loader, attempt))
        place_error(loader, &attempt->place, NULL, "%s", why);
}

/* ---- upstreams ---- */

struct tried {
    struct tls_peer_options list[TLS_CONTEXTS_MAX];
    size_t count;
    bool is_full; /* reported */
};

static bool is_tried(const struct tried *tried, const struct tls_peer_options *options)
{
    for (size_t i = 0; i < tried->count; i++)
        if (tls_peer_options_same_context(&tried->list[i], options))
            return true;
    return false;
}

static void report_full(struct loader *loader, struct tried *tried, const struct attempt *attempt)
{
    if (!tried->is_full)
        place_error(loader, &attempt->place, NULL,
                    "exceeds the limit of %d different sets of ca-bundle, client-certificate, "
                    "client-key, tls-ciphers and tls-groups; let upstreams share some of them",
                    TLS_CONTEXTS_MAX);
    tried->is_full = true;
}

/* Half of a pair has been reported already. */
static void try_upstream(struct loader *loader, struct tried *tried, struct place place,
                         const struct config_layer *layer, const struct tls_peer_options *options)
{
    const struct attempt attempt = {place,        layer,         "ca-bundle",  "client-certificate",
                                    "client-key", "tls-ciphers", "tls-groups", *options};
    char why[TLS_WHY_MAX];
    if (is_tried(tried, options) ||
        loader_is_set(options->certificate) != loader_is_set(options->key))
        return;
    if (tried->count == TLS_CONTEXTS_MAX) {
        report_full(loader, tried, &attempt);
        return;
    }
    tried->list[tried->count++] = *options;
    if (try_client(options, why))
        report_tls_attempt(loader, &attempt, why);
}

/* A file is tried even if no upstream uses it yet. */
static bool names_any(const struct tls_peer_options *options)
{
    return loader_is_set(options->ca_bundle) || loader_is_set(options->certificate) ||
           loader_is_set(options->key) || loader_is_set(options->ciphers) ||
           loader_is_set(options->groups);
}

static void try_entry(struct loader *loader, struct tried *tried, size_t index)
{
    const struct config_entry *entry = &loader->config->entries[index];
    const struct place place = {"tcp-upstream-keepalive", true, entry->position, index};
    struct upstream_options options = loader->config->upstream;
    options_overlay(&entry->layer, &options);
    if (transport_is_secure(options.transport) || names_any(&options.tls))
        try_upstream(loader, tried, place, &entry->layer, &options.tls);
}

static void try_zone(struct loader *loader, struct tried *tried, const struct config_zone *zone,
                     size_t index)
{
    const struct place place = {zone->is_stub ? "stub-zones" : "forward-zones", true,
                                zone->position, index};
    for (size_t i = 0; i < config_zone_server_count(zone); i++) {
        struct route_upstream upstream;
        config_zone_upstream(loader->config, zone, config_zone_server(zone, i), &upstream);
        if (transport_is_secure(upstream.options.transport))
            try_upstream(loader, tried, place, &zone->layer, &upstream.options.tls);
    }
}

static void try_zones(struct loader *loader, struct tried *tried)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->zone_count; i++)
        try_zone(loader, tried, &config->zones[i], i);
    for (size_t i = 0; i < config->stub_count; i++)
        try_zone(loader, tried, &config->stub_zones[i], i);
}

void config_check_files_zones(struct loader *loader)
{
    struct tried *tried = loader_take(loader, 1, sizeof(*tried));
    if (tried)
        try_zones(loader, tried);
}

static void try_upstreams(struct loader *loader)
{
    static const struct place section = {.key = "upstream"};
    const struct config *config = loader->config;
    struct tried *tried = loader_take(loader, 1, sizeof(*tried));
    if (!tried)
        return;
    if (transport_is_secure(config->upstream.transport) || names_any(&config->upstream.tls))
        try_upstream(loader, tried, section, NULL, &config->upstream.tls);
    for (size_t i = 0; i < config->entry_count; i++)
        try_entry(loader, tried, i);
    try_zones(loader, tried);
}

/* ---- the listener ---- */

static enum err try_server_text(const struct server_options *server, struct span certificate,
                                struct span key, char why[TLS_WHY_MAX])
{
    const struct tls_server_options options = {.certificate = certificate,
                                               .key = key,
                                               .certificate_name = server->tls_certificate,
                                               .key_name = server->tls_key,
                                               .ciphers = server->tls_ciphers,
                                               .groups = server->tls_groups};
    struct tls_context *context = NULL;
    enum err err = tls_context_server(&context, &options, why);
    tls_context_free(context);
    return err;
}

static enum err try_server(const struct server_options *server, char why[TLS_WHY_MAX])
{
    char *certificate = NULL, *key = NULL;
    size_t certificate_len = 0, key_len = 0;
    enum err err = tls_read_file(server->tls_certificate, &certificate, &certificate_len, why);
    if (!err)
        err = tls_read_file(server->tls_key, &key, &key_len, why);
    if (!err)
        err = try_server_text(server, span_of(certificate, certificate_len), span_of(key, key_len),
                              why);
    tls_file_free(&certificate, certificate_len);
    tls_file_free(&key, key_len);
    return err;
}

/* Looks for the failing part with client contexts, whose errors name the files. */
static void check_server(struct loader *loader)
{
    const struct server_options *server = &loader->config->server;
    const struct attempt attempt = {{.key = "server"},
                                    NULL,
                                    NULL,
                                    "tls-certificate",
                                    "tls-key",
                                    "tls-ciphers",
                                    "tls-groups",
                                    {.certificate = server->tls_certificate,
                                     .key = server->tls_key,
                                     .ciphers = server->tls_ciphers,
                                     .groups = server->tls_groups}};
    char why[TLS_WHY_MAX];
    if (server_options_have_tls(server) && loader_is_set(server->tls_certificate) &&
        loader_is_set(server->tls_key) && try_server(server, why))
        report_tls_attempt(loader, &attempt, why);
}

/* ---- files that are written ---- */

static void check_directory(struct loader *loader, const struct place *place, const char *key,
                            const char *path)
{
    char directory[KIND_STRING_MAX + 1];
    struct stat status;
    if (!loader_is_set(path))
        return;
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path),
                 path);
    else
        snprintf(directory, sizeof(directory), ".");
    if (stat(directory, &status) && errno == ENOENT)
        place_error(loader, place, key,
                    "the directory %.200s does not exist; create it for the user that nailupd runs "
                    "as",
                    directory);
    else if (stat(directory, &status))
        place_error(loader, place, key, "the directory %.200s cannot be used: %s", directory,
                    strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        place_error(loader, place, key, "%.200s is not a directory", directory);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        place_error(loader, place, key, "%.200s is not a regular file", path);
}

/* Describes the effect of a missing file. A catalog answers nothing itself. */
static const char *words_of_missing(const struct config_auth_zone *zone)
{
    if (zone->catalog)
        return "its members do not change, or there are none";
    return zone->fallback ? "its names are resolved like others" : "its names get SERVFAIL";
}

/* The daemon starts without such a zone, because a missing zone must not stop all others. */
static void warn_of_missing_zones(struct loader *loader)
{
    const struct config *config = loader->config;
    for (size_t i = 0; i < config->auth_zone_count; i++) {
        const struct config_auth_zone *zone = &config->auth_zones[i];
        struct stat status;
        char path[64];
        if (!loader_is_set(zone->file))
            continue;
        snprintf(path, sizeof(path), "auth-zones[%zu].file", i);
        if (access(zone->file, R_OK) || stat(zone->file, &status))
            loader_warn_position(loader, zone->position,
                                 "%s: %.200s cannot be read: %s; until it can, and a reload, %s",
                                 path, zone->file, strerror(errno), words_of_missing(zone));
        else if (!S_ISREG(status.st_mode))
            loader_warn_position(loader, zone->position,
                                 "%s: %.200s is not a regular file; until it is, and a reload, %s",
                                 path, zone->file, words_of_missing(zone));
    }
}

void config_check_files(struct loader *loader)
{
    static const struct place upstream = {.key = "upstream"}, log = {.key = "log"};
    static const struct place cache = {.key = "cache"}, dnssec = {.key = "dnssec"};
    check_server(loader);
    try_upstreams(loader);
    config_read_cookie_secrets(loader);
    config_find_accounts(loader);
    config_read_hints(loader);
    check_directory(loader, &upstream, "session-file", loader->config->session_file);
    check_directory(loader, &upstream, "host-file", loader->config->host_file);
    check_directory(loader, &cache, "snapshot", loader->config->snapshot_file);
    check_directory(loader, &log, "tls-keys", loader->config->tls_key_log);
    if (loader->config->update_anchors == UPDATE_YES)
        check_directory(loader, &dnssec, "trust-anchor-file", loader->config->trust_anchor_file);
    warn_of_missing_zones(loader);
    config_check_written(loader);
}
