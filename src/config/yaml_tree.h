/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_YAML_TREE_H
#define NAILUP_CONFIG_YAML_TREE_H

/*
 * YAML text as a tree of words, lists and mappings with their positions. Only what a configuration
 * needs: one document, keys that are plain words; no anchors, aliases and tags, which would let
 * a small file mean a large one. The types of YAML (numbers, booleans, null) are not
 * interpreted: a scalar is its text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/problems.h"

enum {
    YAML_TREE_DEPTH_MAX = 32,     /* lists and mappings inside each other */
    YAML_TREE_NODES_MAX = 400000, /* of one file, keys included */
};

enum yaml_tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP };

struct yaml_tree_node {
    enum yaml_tree_kind kind;
    bool quoted;                     /* scalar: written between quotes */
    bool broken;                     /* its error is reported already: say no more about it */
    bool cut;                        /* the text broke off inside: do not miss anything in it */
    struct config_position position; /* of its first character */
    struct yaml_tree_node *key;      /* of a mapping's value: the scalar before the colon */
    struct yaml_tree_node *next;     /* sibling */
    struct yaml_tree_node *first;    /* list: items; mapping: values, without repeated keys */
    size_t count;                    /* of these */
    const char *text;                /* scalar: ends with a NUL and has none inside */
    size_t len;
};

struct yaml_tree;

/*
 * Parses len bytes of text. What is wrong is added to problems; the tree then has what was sound
 * before it, so that further errors can be found. NULL only when memory is out (which problems
 * says too). Any thread.
 */
struct yaml_tree *yaml_tree_parse(const char *text, size_t len, struct problems *problems);

/* As yaml_tree_parse() of an included file: its number is part of each position. */
struct yaml_tree *yaml_tree_parse_file(const char *text, size_t len, uint16_t file,
                                       struct problems *problems);
void yaml_tree_free(struct yaml_tree *tree);

/* The document, or NULL of a file without one (empty, comments only, unsound from the start).
 * Lives as long as the tree; include.c hangs other files' nodes into it. */
struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree);

/* The value of the key in a mapping, or NULL; of a node that is no mapping, NULL. */
const struct yaml_tree_node *yaml_tree_find(const struct yaml_tree_node *map, const char *key);

/* A value left empty ("key:" and nothing behind it). */
static inline bool yaml_tree_is_empty(const struct yaml_tree_node *node)
{
    return node->kind == TREE_SCALAR && node->len == 0 && !node->quoted;
}

#endif
