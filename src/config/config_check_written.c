/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Checks that no file that nailupd writes is also one that it reads, or one that it writes for
 * another key: a mistaken path must not destroy a key or a list. An existing file is identified by
 * device and inode, a missing one by those of its directory and its name.
 */
#include "config/config_check_written.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config/place.h"
#include "base/check.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

enum { WRITTEN_MAX = 5 };

struct identity {
    bool is_known;
    dev_t device;
    ino_t inode;
    const char
        *name; /* in the directory with that device and inode; "": they identify the file itself */
};

struct written {
    struct place place;
    const char *key, *path;
    char beside[KIND_STRING_MAX + sizeof(".new")]; /* the path before the rename, or "" */
    struct identity self, other;                   /* identities of path and beside */
    bool is_told;
};

struct check {
    struct loader *loader;
    struct written list[WRITTEN_MAX];
    size_t count;
    const char *last; /* the last path: thousands of zones may share it */
};

static const char *folder_of(const char *path, char out[KIND_STRING_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    snprintf(out, KIND_STRING_MAX + 1, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return out;
}

static struct identity identify_file(const char *path)
{
    char folder[KIND_STRING_MAX + 1];
    const char *slash = strrchr(path, '/');
    struct identity identity = {.name = ""};
    struct stat status;
    if (stat(path, &status)) {
        if (stat(folder_of(path, folder), &status))
            return identity;
        identity.name = slash ? slash + 1 : path;
    }
    identity.is_known = true;
    identity.device = status.st_dev;
    identity.inode = status.st_ino;
    return identity;
}

static bool is_same_file(const struct identity *a, const char *a_path, const struct identity *b,
                         const char *b_path)
{
    if (strcmp(a_path, b_path) == 0)
        return true;
    return a->is_known && b->is_known && a->device == b->device && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

/* One error for each path is enough. */
static void compare_with_written(struct loader *loader, struct written *written, const char *path,
                                 const struct identity *identity, const char *what)
{
    bool is_self = is_same_file(&written->self, written->path, identity, path);
    bool is_beside =
        *written->beside && is_same_file(&written->other, written->beside, identity, path);
    if (written->is_told || (!is_self && !is_beside))
        return;
    written->is_told = true;
    place_error(loader, &written->place, written->key,
                "%.200s is also the file of %s, and would be overwritten; name another file",
                is_self ? written->path : written->beside, what);
}

static void compare_path(struct check *check, const char *path, const char *what)
{
    if (!loader_is_set(path) || (check->last && strcmp(path, check->last) == 0))
        return;
    const struct identity identity = identify_file(path);
    check->last = path;
    for (size_t i = 0; i < check->count; i++)
        compare_with_written(check->loader, &check->list[i], path, &identity, what);
}

/* ---- files that nailupd writes ---- */

static void add_written(struct check *check, const char *section, const char *key, const char *path,
                        bool is_replaced)
{
    char what[64];
    if (!loader_is_set(path))
        return;
    MUST(check->count < WRITTEN_MAX);
    struct written *written = &check->list[check->count];
    *written = (struct written){.place = {.key = section}, .key = key, .path = path};
    written->self = identify_file(path);
    if (is_replaced) {
        snprintf(written->beside, sizeof(written->beside), "%s.new", path);
        written->other = identify_file(written->beside);
    }
    snprintf(what, sizeof(what), "%s.%s", section, key);
    compare_path(check, path, what); /* compares with the files before it */
    if (is_replaced)
        compare_path(check, written->beside, what);
    check->last = NULL;
    check->count++;
}

static void add_all_written(struct check *check)
{
    const struct config *config = check->loader->config;
    add_written(check, "cache", "snapshot", config->snapshot_file, true);
    add_written(check, "upstream", "session-file", config->session_file, true);
    add_written(check, "upstream", "host-file", config->host_file, true);
    add_written(check, "dnstap", "file", config->dnstap.file, false);
    add_written(check, "log", "tls-keys", config->tls_key_log, false);
}

/* ---- files that nailupd reads ---- */

static void compare_configuration(struct check *check)
{
    const struct problems *problems = check->loader->problems;
    compare_path(check, check->loader->file_name, "the configuration");
    for (size_t i = 0; i < problems->file_count; i++)
        compare_path(check, problems->files[i], "the configuration (include)");
}

static void compare_local_files(struct check *check)
{
    const struct config *config = check->loader->config;
    compare_path(check, config->hosts_file, "hosts-file");
    compare_path(check, config->trust_anchor_file, "dnssec.trust-anchor-file");
    for (size_t i = 0; i < config->block_list_count; i++)
        compare_path(check, config->block_lists[i].file, "block-lists");
    for (size_t i = 0; i < config->rpz.count; i++)
        compare_path(check, config->rpz.zones[i].file, "rpz");
}

static void compare_server_files(struct check *check)
{
    const struct config *config = check->loader->config;
    compare_path(check, config->server.tls_certificate, "server.tls-certificate");
    compare_path(check, config->server.tls_key, "server.tls-key");
    compare_path(check, config->server.cookie_secret_file, "server.cookie-secret-file");
    compare_path(check, config->control_socket, "control.socket");
    compare_path(check, config->dnstap.socket, "dnstap.socket");
}

static void compare_peer_files(struct check *check, const struct tls_peer_options *options)
{
    compare_path(check, options->ca_bundle, "ca-bundle");
    compare_path(check, options->certificate, "client-certificate");
    compare_path(check, options->key, "client-key");
}

static void compare_layer_files(struct check *check, const struct config_layer *layer)
{
    struct tls_peer_options given = {0};
    if (option_in_layer(ROW(tls.ca_bundle), layer))
        given.ca_bundle = layer->values.tls.ca_bundle;
    if (option_in_layer(ROW(tls.certificate), layer))
        given.certificate = layer->values.tls.certificate;
    if (option_in_layer(ROW(tls.key), layer))
        given.key = layer->values.tls.key;
    compare_peer_files(check, &given);
}

void config_check_written(struct loader *loader)
{
    const struct config *config = loader->config;
    struct check check = {.loader = loader};
    add_all_written(&check);
    if (check.count == 0)
        return;
    compare_configuration(&check);
    compare_local_files(&check);
    compare_server_files(&check);
    compare_peer_files(&check, &config->upstream.tls);
    for (size_t i = 0; i < config->entry_count; i++)
        compare_layer_files(&check, &config->entries[i].layer);
    for (size_t i = 0; i < config->zone_count; i++)
        compare_layer_files(&check, &config->zones[i].layer);
}
