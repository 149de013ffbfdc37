/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Makes the table of trust anchors from the configuration and from the file that it names.
 * Invariant: the root is trusted by the operator's anchors or by the built-in ones, never by both,
 * and not by the built-in ones after its keys were revoked.
 */
#include "config/config_anchors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file.h"
#include "config/kind.h"
#include "config/place.h"
#include "dns/rrtype.h"
#include "nailup/build_date.h"
#include "validate/algorithm.h"
#include "validate/anchor_file.h"
#include "validate/dnskey.h"

static const struct place dnssec = {.key = "dnssec"};

/* ---- records of the configuration ---- */

/* Whether the record is one line that can be printed again. */
static bool is_anchor_line(const struct yaml_tree_node *node)
{
    if (node->kind != TREE_SCALAR || node->len > KIND_STRING_MAX)
        return false;
    for (size_t i = 0; i < node->len; i++)
        if ((node->text[i] < ' ' || node->text[i] > '~') && node->text[i] != '\t')
            return false;
    return true;
}

static void load_anchor(struct loader *loader, const struct yaml_tree_node *item)
{
    struct config *config = loader->config;
    struct anchor_file_problem problem;
    if (item->broken)
        return;
    if (!is_anchor_line(item)) {
        loader_error_takes(loader, item, "a DS or DNSKEY record in one line", "");
        return;
    }
    char *text = arena_copy(&config->arena, item->text, item->len + 1);
    enum err err = text ? anchor_file_read(config->anchors, span_of(text, item->len), &problem)
                        : ERR_NO_MEMORY;
    if (err == ERR_INVALID)
        loader_error(loader, item, "%s", problem.sentence);
    else if (err)
        problems_no_memory(loader->problems);
    else
        config->trust_anchors[config->trust_anchor_count++] = text;
}

void load_anchors(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node)
{
    size_t index = 0;
    struct config *config = loader->config;
    if (!loader_list_fits(loader, option, node))
        return;
    anchors_free(config->anchors);
    config->anchors = anchors_new();
    config->trust_anchors = loader_take(loader, node->count, sizeof(*config->trust_anchors));
    config->trust_anchor_count = 0;
    if (!config->anchors || !config->trust_anchors) {
        problems_no_memory(loader->problems);
        return;
    }
    anchors_set_source(config->anchors, "trust-anchors");
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        load_anchor(loader, item);
        loader_leave(loader, mark);
    }
}

/* ---- the file ---- */

static void report_anchor_file(struct loader *loader, const struct anchor_file_problem *problem)
{
    const char *path = loader->config->trust_anchor_file;
    if (problem->line)
        place_error(loader, &dnssec, "trust-anchor-file", "%.200s, line %zu: %s", path,
                    problem->line, problem->sentence);
    else
        place_error(loader, &dnssec, "trust-anchor-file", "%.200s: %s", path, problem->sentence);
}

static void report_unreadable(struct loader *loader, int number)
{
    place_error(loader, &dnssec, "trust-anchor-file", "%.200s cannot be read: %s%s",
                loader->config->trust_anchor_file, strerror(number),
                number == ENOENT   ? "; fetch it, or leave the key out to use the built-in anchors"
                : number == EACCES ? "; let the user that nailupd runs as read it"
                                   : "");
}

/* RFC 5011 section 5: a zone whose keys were all revoked counts as if it had no anchor. The daemon
 * that saw the revocations wrote the file, and its next start must succeed. */
static void take_revoked(struct loader *loader, const struct anchor_point *point)
{
    char zone[NAME_TEXT_MAX];
    loader->config->is_root_revoked = name_is_root(anchor_point_zone(point));
    loader_warn(
        loader, "dnssec.trust-anchor-file",
        "%.200s says that all keys of %.100s were revoked, so the zone has no trust anchor; "
        "replace the file by one with the zone's current anchor",
        loader->config->trust_anchor_file, name_format(anchor_point_zone(point), zone));
}

/* Takes the records. point_err says why the file cannot be kept up to date, with *point_problem. */
static void take_anchor_file(struct loader *loader, struct span text, enum err point_err,
                             const struct anchor_file_problem *point_problem)
{
    struct anchor_file_problem problem;
    anchors_set_source(loader->config->anchors, "trust-anchor-file");
    enum err err = anchor_file_read(loader->config->anchors, text, &problem);
    if (err == ERR_INVALID)
        report_anchor_file(loader, &problem);
    else if (err || point_err == ERR_NO_MEMORY)
        problems_no_memory(loader->problems);
    else if (point_err && loader->config->update_anchors == UPDATE_YES)
        report_anchor_file(loader, point_problem);
}

static void parse_anchor_file(struct loader *loader, int file, char *bytes)
{
    struct config *config = loader->config;
    struct anchor_file_problem problem;
    ssize_t len = file_read(file, bytes, ANCHOR_FILE_BYTES_MAX + 1);
    if (len < 0) {
        report_unreadable(loader, errno);
        return;
    }
    struct span text = span_of(bytes, (size_t)len);
    struct anchor_point *point = malloc(sizeof(*point));
    enum err err = point ? anchor_file_read_point(point, text, &problem) : ERR_NO_MEMORY;
    if (!err && point->is_revoked)
        take_revoked(loader, point);
    else
        take_anchor_file(loader, text, err, &problem);
    config->keeps_anchors = !err && config->update_anchors != UPDATE_NO &&
                            (point->is_kept || config->update_anchors == UPDATE_YES);
    free(point);
}

void config_read_anchor_file(struct loader *loader)
{
    const char *path = loader->config->trust_anchor_file;
    struct stat status;
    if (!loader_is_set(path)) {
        if (loader->config->update_anchors == UPDATE_YES)
            loader_warn(loader, "dnssec.update-anchors",
                        "dnssec.update-anchors has no effect without dnssec.trust-anchor-file; "
                        "name a file in a directory that nailupd may write to");
        return;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT && loader->config->update_anchors == UPDATE_YES) {
        loader->config->keeps_anchors = true;
        return;
    }
    if (file < 0 || fstat(file, &status)) {
        report_unreadable(loader, errno);
    } else if (!S_ISREG(status.st_mode)) {
        place_error(loader, &dnssec, "trust-anchor-file", "%.200s is not a regular file", path);
    } else {
        char *text = malloc(ANCHOR_FILE_BYTES_MAX + 1);
        if (text)
            parse_anchor_file(loader, file, text);
        else
            problems_no_memory(loader->problems);
        free(text);
    }
    if (file >= 0)
        close(file);
}

/* ---- the table ---- */

static bool config_anchors_is_usable(const struct anchor_record *record, bool allow_sha1)
{
    struct ds ds;
    struct dnskey key;
    if (record->type == RRTYPE_DS)
        return ds_read(&ds, record->rdata) && algorithm_is_supported(ds.algorithm, allow_sha1) &&
               algorithm_is_digest_supported(ds.digest_type);
    return dnskey_read(&key, record->rdata) && algorithm_is_supported(key.algorithm, allow_sha1);
}

/* Warns of a zone whose anchors have only algorithms and digests that do not count. */
static void warn_of_unusable(struct loader *loader, const struct anchor *anchor)
{
    static const char key[] = "dnssec.trust-anchors", file_key[] = "dnssec.trust-anchor-file";
    char zone[NAME_TEXT_MAX];
    for (size_t i = 0; i < anchor->count; i++)
        if (config_anchors_is_usable(&anchor->record[i],
                                     loader->config->route.validation.allow_sha1))
            return;
    loader_warn(loader, config_is_given(loader->config, key) ? key : file_key,
                "no anchor of %.100s has an algorithm and a digest that count, so its answers fail "
                "to validate; name another key of it",
                name_format(anchor->zone, zone));
}

/* Whether the file or one of its views validates. */
static bool any_view_validates(const struct config *config)
{
    bool does = config->route.validation.mode != VALIDATE_NO;
    for (size_t i = 0; i < config->view_count; i++)
        does = does || config->views[i].part.route.validation.mode != VALIDATE_NO;
    return does;
}

void config_warn_of_anchors(struct loader *loader)
{
    static const char *const keys[] = {"dnssec.trust-anchors", "dnssec.trust-anchor-file",
                                       "dnssec.negative-trust-anchors"};
    const struct config *config = loader->config;
    for (size_t i = 0; i < anchors_count(config->anchors); i++)
        if (anchors_at(config->anchors, i)->kind == ANCHOR_TRUSTED)
            warn_of_unusable(loader, anchors_at(config->anchors, i));
    if (any_view_validates(config))
        return;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (config_is_given(config, keys[i]))
            loader_warn(loader, keys[i],
                        "%s has no effect while dnssec.validate is no; write validate: yes or log",
                        keys[i]);
}

static enum err add_negative(struct anchors *anchors, const struct config_names *names)
{
    enum err err = ERR_OK;
    anchors_set_source(anchors, "negative-trust-anchors");
    for (size_t i = 0; i < names->count && !err; i++) {
        struct name name;
        err = name_view(span_of(names->list[i], NAME_WIRE_MAX), 0, &name) ? ERR_OK : ERR_INVALID;
        if (!err)
            err = anchors_add_negative(anchors, name);
    }
    return err;
}

bool config_anchors(struct loader *loader)
{
    struct config *config = loader->config;
    struct anchors *anchors = config->anchors;
    anchors_set_source(anchors, "built-in");
    bool has_root = anchors_find(anchors, name_root()) || config->is_root_revoked;
    enum err err = has_root ? ERR_OK : anchors_add_root(anchors);
    if (!err)
        err = add_negative(anchors, &config->negative_anchors);
    config->route.validation.anchors = anchors;
    config->route.validation.clock_min_s = NAILUP_BUILD_DATE_S;
    if (err)
        problems_no_memory(loader->problems);
    return !err;
}

bool config_clock_is_wrong(const struct config *config)
{
    return config && time(NULL) < config->route.validation.clock_min_s;
}
