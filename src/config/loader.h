/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOADER_H
#define NAILUP_CONFIG_LOADER_H

/* A walk over the tree of a file: where it is, and how it reports errors. Internal to config. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "config/config.h"
#include "config/options.h"
#include "config/problems.h"
#include "config/yaml_tree.h"

enum { LOADER_PATH_MAX = 200 };

struct loader {
    struct config *config;
    struct problems *problems;
    const char *file_name;
    bool with_files;                   /* read the files that the text names */
    const struct yaml_tree_node *root; /* for the checks: the file; NULL: it is empty */
    char path[LOADER_PATH_MAX];        /* of the current node, for errors: "server.listen[1]" */
    size_t path_len;
    /* Reads a node's value into the row's field; owner is a struct of the row's kind. load.c sets
     * it, so that lists of mappings do not depend on the table of all kinds. */
    void (*load_value)(struct loader *loader, const struct option *option,
                       const struct yaml_tree_node *node, void *owner);
};

/* Extends the path by ".key" or "[index]". Returns the mark that loader_leave() takes. */
size_t loader_enter(struct loader *loader, const char *key);
size_t loader_enter_item(struct loader *loader, size_t index);
void loader_leave(struct loader *loader, size_t mark);

/* Adds an error about the current path, at the position of the node. */
void loader_error(struct loader *loader, const struct yaml_tree_node *node, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Adds an error about a node that is not what the option takes. hint may be "". */
void loader_error_takes(struct loader *loader, const struct yaml_tree_node *node, const char *takes,
                        const char *hint);

/* Whether an option that takes text has some. */
static inline bool loader_is_set(const char *text)
{
    return text && *text;
}

/* Zeroed memory of the configuration for count elements. NULL: out of memory, which problems
 * records. */
void *loader_take(struct loader *loader, size_t count, size_t size);

/* Whether the memory of the configuration has run out, which problems then record. */
bool loader_lacks_memory(struct loader *loader);

/* Whether the node is a list of a size that the row allows. Adds an error if not. */
bool loader_list_fits(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node);

/* The position of a key, or the beginning of the file if the file does not give it. */
struct config_position loader_position(const struct loader *loader, const char *path);

/* Adds a warning about the current path, at the position of the node. */
void loader_warn_node(struct loader *loader, const struct yaml_tree_node *node, const char *format,
                      ...) PRINTF_LIKE(3, 4);

/* Adds a warning at a position. Drops it if there is no room. */
void loader_warn_position(struct loader *loader, struct config_position position,
                          const char *format, ...) PRINTF_LIKE(3, 4);

/* Adds a warning at the position of a key. Drops it if there is no room. */
void loader_warn(struct loader *loader, const char *path, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif
