/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the file of recursion.root-hints, and checks whether recursion may ask any server of the
 * hints. */
#include "config/config_hints.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/place.h"
#include "recurse/root_hints.h"

static const struct place recursion = {.key = "recursion"};

bool config_has_recursion(const struct config *config)
{
    bool has_root = false;
    for (size_t i = 0; i < config->zone_count && !has_root; i++)
        has_root = config->zones[i].name_len == 1 && !config->zones[i].first;
    return config->route.recursion.enabled && !has_root;
}

/* Returns NULL after reporting an error. */
static const struct delegation *read_hints(struct loader *loader, const char *path)
{
    struct root_hints_problem problem = {0};
    struct delegation *hints = arena_take(&loader->config->arena, sizeof(*hints));
    FILE *file = fopen(path, "r");
    char *text = malloc(ROOT_HINTS_BYTES_MAX + 1);
    size_t len = file && text ? fread(text, 1, ROOT_HINTS_BYTES_MAX + 1, file) : 0;
    enum err err =
        hints && text ? root_hints_parse(hints, span_of(text, len), &problem) : ERR_NO_MEMORY;
    if (err && problem.line)
        place_error(loader, &recursion, "root-hints", "%.200s, line %zu: %s", path, problem.line,
                    problem.sentence);
    else if (err)
        place_error(loader, &recursion, "root-hints", "%.200s: %s", path,
                    problem.sentence ? problem.sentence : err_str(err));
    free(text);
    if (file)
        fclose(file);
    return err ? NULL : hints;
}

void config_read_hints(struct loader *loader)
{
    const char *path = loader->config->route.recursion.root_hints;
    struct stat status;
    if (!path || !*path)
        return;
    if (stat(path, &status) || access(path, R_OK))
        place_error(loader, &recursion, "root-hints", "%.200s cannot be read: %s", path,
                    strerror(errno));
    else if (!S_ISREG(status.st_mode))
        place_error(loader, &recursion, "root-hints", "%.200s is not a regular file", path);
    else
        loader->config->route.recursion.hints = read_hints(loader, path);
}

static bool may_ask_any(const struct config *config, const struct delegation *hints)
{
    for (unsigned i = 0; i < hints->addr_count; i++) {
        struct addr addr;
        delegation_addr(hints, i, 0, &addr);
        if (prefix_set_find(config->do_not_query.set, &addr) < 0)
            return true;
    }
    return false;
}

void config_warn_of_hints(struct loader *loader)
{
    static const char key[] = "recursion.do-not-query", file_key[] = "recursion.root-hints";
    const struct config *config = loader->config;
    const struct delegation *hints = config->route.recursion.hints;
    struct delegation builtin;
    const char *file = hints ? config->route.recursion.root_hints : "the built-in hints";
    if (!hints) {
        root_hints_builtin(&builtin);
        hints = &builtin;
    }
    if (!config_has_recursion(config) || may_ask_any(config, hints))
        return;
    loader_warn(loader, config_is_given(config, key) ? key : file_key,
                "%s has every root server of %.200s, so recursion may ask none of them; remove "
                "their addresses from that list ([] is an empty list; the default is 127.0.0.0/8 "
                "and ::1)",
                key, file);
}
