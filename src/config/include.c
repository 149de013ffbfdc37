/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * include: reads the files that a file names and adds their nodes to its tree, as if they were
 * written there. load.c interprets the keys.
 *
 * Invariants: no file is read twice, so no file includes itself; all files together have at most
 * CONFIG_FILE_MAX bytes; only regular files are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file.h"
#include "config/include.h"

enum {
    FILES_MAX = PROBLEM_FILES_MAX,
    DEPTH_MAX = 8,
    KEYS_MAX = CONFIG_OPTIONS_MAX, /* the most keys of a merged mapping; no section has more */
    PATH_BYTES_MAX = 1024,
};

/* Identifies a file, whatever its name. */
struct identity {
    dev_t device;
    ino_t inode;
};

struct includes {
    struct loader *loader;
    struct yaml_tree_node *root; /* the main file's root */
    char *text;                  /* the current file's text */
    size_t bytes_left;
    size_t count;
    struct yaml_tree *trees[FILES_MAX];
    struct identity seen[FILES_MAX + 1];
    size_t seen_count;
};

static void include_node(struct includes *includes, const struct yaml_tree_node *node,
                         const char *file_name, unsigned depth);

static struct problems *problems_of(struct includes *includes)
{
    return includes->loader->problems;
}

/* Adds an error at the word that names the file. */
#define COMPLAIN(includes, node, ...)                                                              \
    problems_add(problems_of(includes), (node)->position, "include", __VA_ARGS__)

/* ---- joining ---- */

static void include_append(struct yaml_tree_node *into, struct yaml_tree_node *first, size_t count)
{
    struct yaml_tree_node **end = &into->first;
    while (*end)
        end = &(*end)->next;
    *end = first;
    into->count += count;
}

/* Uses the same key path as the loader. */
static void report_twice(struct includes *includes, const struct yaml_tree_node *first,
                         const struct yaml_tree_node *again)
{
    struct problems *problems = problems_of(includes);
    struct config_position place = first->key->position;
    problems_add(problems, again->key->position, includes->loader->path,
                 "is given twice, first in %.300s:%u; keep one of them",
                 problems_file(problems, place, includes->loader->file_name), place.line);
}

static void join_maps(struct includes *includes, struct yaml_tree_node *into,
                      struct yaml_tree_node *from);

/* Merges two values of the same key. An empty value is replaced by the other one. */
static void include_join(struct includes *includes, struct yaml_tree_node *into,
                         struct yaml_tree_node *from)
{
    if (into->broken || from->broken || yaml_tree_is_empty(from))
        return;
    if (yaml_tree_is_empty(into) && from->kind != TREE_SCALAR) {
        into->kind = from->kind;
        into->first = from->first;
        into->count = from->count;
        into->position = from->position;
    } else if (into->kind == TREE_MAP && from->kind == TREE_MAP) {
        join_maps(includes, into, from);
    } else if (into->kind == TREE_LIST && from->kind == TREE_LIST) {
        include_append(into, from->first, from->count);
    } else {
        report_twice(includes, into, from);
    }
}

static struct yaml_tree_node *include_find(struct yaml_tree_node *map, const char *key)
{
    struct yaml_tree_node *child = map->first;
    while (child && strcmp(child->key->text, key) != 0)
        child = child->next;
    return child;
}

static void join_maps(struct includes *includes, struct yaml_tree_node *into,
                      struct yaml_tree_node *from)
{
    struct yaml_tree_node *next;
    if (into->count + from->count > KEYS_MAX) {
        problems_add(problems_of(includes), from->position, "file",
                     "has a mapping of more than %d keys; no section has so many", KEYS_MAX);
        return;
    }
    for (struct yaml_tree_node *child = from->first; child; child = next) {
        struct yaml_tree_node *same = include_find(into, child->key->text);
        size_t mark = loader_enter(includes->loader, child->key->text);
        next = child->next;
        child->next = NULL;
        if (same)
            include_join(includes, same, child);
        else
            include_append(into, child, 1);
        loader_leave(includes->loader, mark);
    }
}

/* Removes include from the mapping, so that each file keeps its own. */
static struct yaml_tree_node *take_include(struct yaml_tree_node *map)
{
    for (struct yaml_tree_node **at = &map->first; *at; at = &(*at)->next) {
        struct yaml_tree_node *node = *at;
        if (strcmp(node->key->text, "include") != 0)
            continue;
        *at = node->next;
        map->count--;
        return node;
    }
    return NULL;
}

/* ---- one file ---- */

static bool is_seen(const struct includes *includes, const struct stat *status)
{
    for (size_t i = 0; i < includes->seen_count; i++)
        if (includes->seen[i].device == status->st_dev && includes->seen[i].inode == status->st_ino)
            return true;
    return false;
}

static void note_seen(struct includes *includes, const struct stat *status)
{
    includes->seen[includes->seen_count++] = (struct identity){status->st_dev, status->st_ino};
}

/* Whether the open file may be read. */
static bool include_may_read(struct includes *includes, const struct yaml_tree_node *node, int fd,
                             const char *path)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        COMPLAIN(includes, node, "%.300s is not a regular file", path);
        return false;
    }
    if (is_seen(includes, &status)) {
        COMPLAIN(includes, node, "%.300s is included twice or includes itself; name it once", path);
        return false;
    }
    note_seen(includes, &status);
    return true;
}

/* Reads the file into includes->text. Returns -1 after an error. O_NONBLOCK: opening a pipe must
 * not block before it is refused. */
static ssize_t include_read_file(struct includes *includes, const struct yaml_tree_node *node,
                                 const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        COMPLAIN(includes, node, "%.300s cannot be read: %s", path, strerror(errno));
        return -1;
    }
    ssize_t len = -1;
    if (include_may_read(includes, node, fd, path)) {
        len = file_read(fd, includes->text, includes->bytes_left + 1);
        if (len < 0)
            COMPLAIN(includes, node, "%.300s cannot be read: %s", path, strerror(errno));
    }
    close(fd);
    if (len <= (ssize_t)includes->bytes_left)
        return len;
    COMPLAIN(includes, node, "with %.300s all files together are larger than %d bytes", path,
             CONFIG_FILE_MAX);
    return -1;
}

static void join_file(struct includes *includes, struct yaml_tree_node *root, const char *path,
                      unsigned depth)
{
    if (!root || yaml_tree_is_empty(root))
        return;
    if (root->kind != TREE_MAP) {
        problems_add(problems_of(includes), root->position, "file",
                     "takes a mapping of keys to values, not a %s",
                     root->kind == TREE_LIST ? "list" : "word");
        return;
    }
    struct yaml_tree_node *further = take_include(root);
    join_maps(includes, includes->root, root);
    if (further)
        include_node(includes, further, path, depth + 1);
}

static void include_file(struct includes *includes, const struct yaml_tree_node *node,
                         const char *path, unsigned depth)
{
    if (includes->seen_count > FILES_MAX) {
        COMPLAIN(includes, node, "more than %d files are included", FILES_MAX);
        return;
    }
    ssize_t len = include_read_file(includes, node, path);
    uint16_t number = len >= 0 ? problems_add_file(problems_of(includes), path) : 0;
    if (!number)
        return;
    includes->bytes_left -= (size_t)len;
    size_t before = problems_of(includes)->count;
    struct yaml_tree *tree =
        yaml_tree_parse_file(includes->text, (size_t)len, number, problems_of(includes));
    if (!tree)
        return;
    includes->trees[includes->count++] = tree;
    if (problems_of(includes)->count == before)
        join_file(includes, yaml_tree_root(tree), path, depth);
}

/* ---- paths ---- */

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[");
}

/* Resolves a path relative to the directory of file_name. Escapes wildcards in the directory if
 * text is a pattern. False: too long. */
static bool include_resolve(const char *text, const char *file_name, char path[PATH_BYTES_MAX])
{
    const char *slash = *text == '/' ? NULL : strrchr(file_name, '/');
    size_t len = 0;
    for (const char *at = file_name; slash && at <= slash; at++) {
        if (is_pattern(text) && strchr("*?[]\\", *at) && len < PATH_BYTES_MAX)
            path[len++] = '\\';
        if (len >= PATH_BYTES_MAX)
            return false;
        path[len++] = *at;
    }
    return (size_t)snprintf(path + len, PATH_BYTES_MAX - len, "%s", text) < PATH_BYTES_MAX - len;
}

static void include_pattern(struct includes *includes, const struct yaml_tree_node *node,
                            const char *pattern, unsigned depth)
{
    glob_t found;
    int result = glob(pattern, 0, NULL, &found);
    if (result == GLOB_NOMATCH)
        return;
    if (result != 0) {
        COMPLAIN(includes, node, "%.300s cannot be searched", pattern);
        return;
    }
    for (size_t i = 0; i < MIN(found.gl_pathc, (size_t)FILES_MAX + 1); i++)
        include_file(includes, node, found.gl_pathv[i], depth);
    globfree(&found);
}

static void include_word(struct includes *includes, const struct yaml_tree_node *node,
                         const char *file_name, unsigned depth)
{
    char path[PATH_BYTES_MAX];
    if (node->broken)
        return;
    if (node->kind != TREE_SCALAR || node->len == 0)
        COMPLAIN(includes, node, "takes a path, or a list of paths");
    else if (depth > DEPTH_MAX)
        COMPLAIN(includes, node, "files are included deeper than %d", DEPTH_MAX);
    else if (!include_resolve(node->text, file_name, path))
        COMPLAIN(includes, node, "is longer than %d bytes with its directory", PATH_BYTES_MAX - 1);
    else if (is_pattern(node->text))
        include_pattern(includes, node, path, depth);
    else
        include_file(includes, node, path, depth);
}

static void include_node(struct includes *includes, const struct yaml_tree_node *node,
                         const char *file_name, unsigned depth)
{
    if (yaml_tree_is_empty(node))
        return;
    if (node->kind != TREE_LIST) {
        include_word(includes, node, file_name, depth);
        return;
    }
    for (const struct yaml_tree_node *item = node->first; item; item = item->next)
        include_word(includes, item, file_name, depth);
}

/* ---- all files ---- */

struct includes *include_files(struct loader *loader, struct yaml_tree *tree, size_t bytes)
{
    struct yaml_tree_node *root = yaml_tree_root(tree);
    const struct yaml_tree_node *node = root ? yaml_tree_find(root, "include") : NULL;
    struct stat status;
    if (!node)
        return NULL;
    struct includes *includes = calloc(1, sizeof(*includes));
    char *text = malloc(CONFIG_FILE_MAX + 1);
    if (!includes || !text) {
        problems_no_memory(loader->problems);
        free(includes);
        free(text);
        return NULL;
    }
    includes->loader = loader;
    includes->root = root;
    includes->text = text;
    includes->bytes_left = CONFIG_FILE_MAX - bytes;
    if (stat(loader->file_name, &status) == 0)
        note_seen(includes, &status);
    include_node(includes, node, loader->file_name, 1);
    loader->config->included = (uint32_t)includes->count;
    return includes;
}

void includes_free(struct includes *includes)
{
    if (!includes)
        return;
    for (size_t i = 0; i < includes->count; i++)
        yaml_tree_free(includes->trees[i]);
    free(includes->text);
    free(includes);
}
