/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Whether a file that nailupd writes is also one that it reads, or another that it writes: who
 * mistakes one path for another must not lose a key or a list for it. A file that exists is known
 * by device and inode, one that does not by those of its folder and by its name.
 */
#include "config/config_check_written.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config/place.h"
#include "base/check.h"

#define ROW(field)                                                                                 \
    options_find_field(OWNER_upstream_options, offsetof(struct upstream_options, field))

enum { WRITTEN_MAX = 4 };

struct identity {
    bool is_known;
    dev_t device;
    ino_t inode;
    const char *name; /* in the folder that the numbers are of; "": they are the file's own */
};

struct written {
    struct place place;
    const char *key, *path;
    char
        beside[KIND_STRING_MAX + sizeof(".new")]; /* where it is made before it is renamed, or "" */
    struct identity self, other;                  /* of path and beside */
    bool is_told;
};

struct check {
    struct loader *loader;
    struct written list[WRITTEN_MAX];
    size_t count;
    const char *last; /* path that was looked at: thousands of zones may share it */
};

static bool config_check_written_is_given(const char *path)
{
    return path && *path;
}

static const char *folder_of(const char *path, char out[KIND_STRING_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    snprintf(out, KIND_STRING_MAX + 1, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return out;
}

static struct identity config_check_written_identify(const char *path)
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

static bool config_check_written_is_same(const struct identity *a, const char *a_path,
                                         const struct identity *b, const char *b_path)
{
    if (strcmp(a_path, b_path) == 0)
        return true;
    return a->is_known && b->is_known && a->device == b->device && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

/* One error a path is enough. */
static void config_check_written_compare(struct loader *loader, struct written *written,
                                         const char *path, const struct identity *identity,
                                         const char *what)
{
    bool is_self = config_check_written_is_same(&written->self, written->path, identity, path);
    bool is_beside = *written->beside &&
                     config_check_written_is_same(&written->other, written->beside, identity, path);
    if (written->is_told || (!is_self && !is_beside))
        return;
    written->is_told = true;
    place_error(loader, &written->place, written->key,
                "%.200s is the file of %s too, and would be written over; name another file",
                is_self ? written->path : written->beside, what);
}

static void config_check_written_meet(struct check *check, const char *path, const char *what)
{
    if (!config_check_written_is_given(path) || (check->last && strcmp(path, check->last) == 0))
        return;
    const struct identity identity = config_check_written_identify(path);
    check->last = path;
    for (size_t i = 0; i < check->count; i++)
        config_check_written_compare(check->loader, &check->list[i], path, &identity, what);
}

/* ---- what is written ---- */

static void add_written(struct check *check, const char *section, const char *key, const char *path,
                        bool is_replaced)
{
    char what[64];
    if (!config_check_written_is_given(path))
        return;
    MUST(check->count < WRITTEN_MAX);
    struct written *written = &check->list[check->count];
    *written = (struct written){.place = {.key = section}, .key = key, .path = path};
    written->self = config_check_written_identify(path);
    if (is_replaced) {
        snprintf(written->beside, sizeof(written->beside), "%s.new", path);
        written->other = config_check_written_identify(written->beside);
    }
    snprintf(what, sizeof(what), "%s.%s", section, key);
    config_check_written_meet(check, path, what); /* those before it */
    if (is_replaced)
        config_check_written_meet(check, written->beside, what);
    check->last = NULL;
    check->count++;
}

static void add_all_written(struct check *check)
{
    const struct config *config = check->loader->config;
    add_written(check, "cache", "snapshot", config->snapshot_file, true);
    add_written(check, "upstream", "session-file", config->session_file, true);
    add_written(check, "dnstap", "file", config->dnstap.file, false);
    add_written(check, "log", "tls-keys", config->tls_key_log, false);
}

/* ---- what is read ---- */

static void meet_configuration(struct check *check)
{
    const struct problems *problems = check->loader->problems;
    config_check_written_meet(check, check->loader->file_name, "the configuration");
    for (size_t i = 0; i < problems->file_count; i++)
        config_check_written_meet(check, problems->files[i], "the configuration (include)");
}

static void meet_lists(struct check *check)
{
    const struct config *config = check->loader->config;
    config_check_written_meet(check, config->hosts_file, "hosts-file");
    for (size_t i = 0; i < config->block_list_count; i++)
        config_check_written_meet(check, config->block_lists[i].file, "block-lists");
}

static void meet_server(struct check *check)
{
    const struct config *config = check->loader->config;
    config_check_written_meet(check, config->server.tls_certificate, "server.tls-certificate");
    config_check_written_meet(check, config->server.tls_key, "server.tls-key");
    config_check_written_meet(check, config->server.cookie_secret_file,
                              "server.cookie-secret-file");
    config_check_written_meet(check, config->control_socket, "control.socket");
    config_check_written_meet(check, config->dnstap.socket, "dnstap.socket");
}

static void meet_peer(struct check *check, const struct tls_peer_options *options)
{
    config_check_written_meet(check, options->ca_bundle, "ca-bundle");
    config_check_written_meet(check, options->certificate, "client-certificate");
    config_check_written_meet(check, options->key, "client-key");
}

static void meet_layer(struct check *check, const struct config_layer *layer)
{
    struct tls_peer_options given = {0};
    if (option_in_layer(ROW(tls.ca_bundle), layer))
        given.ca_bundle = layer->values.tls.ca_bundle;
    if (option_in_layer(ROW(tls.certificate), layer))
        given.certificate = layer->values.tls.certificate;
    if (option_in_layer(ROW(tls.key), layer))
        given.key = layer->values.tls.key;
    meet_peer(check, &given);
}

void config_check_written(struct loader *loader)
{
    const struct config *config = loader->config;
    struct check check = {.loader = loader};
    add_all_written(&check);
    if (check.count == 0)
        return;
    meet_configuration(&check);
    meet_lists(&check);
    meet_server(&check);
    meet_peer(&check, &config->upstream.tls);
    for (size_t i = 0; i < config->entry_count; i++)
        meet_layer(&check, &config->entries[i].layer);
    for (size_t i = 0; i < config->zone_count; i++)
        meet_layer(&check, &config->zones[i].layer);
}
