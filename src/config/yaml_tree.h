/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_YAML_TREE_H
#define NAILUP_CONFIG_YAML_TREE_H

/*
 * YAML text as a tree of words, lists and mappings with their positions. It supports what a
 * configuration needs: one document and plain words as keys; no anchors, aliases or tags, with
 * which a small file could expand to a large one. The types of YAML (numbers, booleans, null) are
 * not interpreted: a scalar is its text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "config/problems.h"

enum {
    YAML_TREE_DEPTH_MAX = 32,      /* nested lists and mappings */
    YAML_TREE_NODES_MAX = 2000000, /* the most nodes of a file, keys included */
};

enum yaml_tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP };

struct yaml_tree_node {
    enum yaml_tree_kind kind;
    bool quoted;                     /* scalar: written between quotes */
    bool broken;                     /* its error has been reported: report nothing else about it */
    bool cut;                        /* the text ended inside it: do not report missing keys */
    struct config_position position; /* the position of its first character */
    struct yaml_tree_node *key;      /* of a mapping's value: the scalar before the colon */
    struct yaml_tree_node *next;     /* sibling */
    struct yaml_tree_node *first;    /* list: items; mapping: values, without duplicate keys */
    size_t count;                    /* how many items or values it has */
    const char *text;                /* scalar: ends with a NUL and has none inside */
    size_t len;
    const char *comment; /* plain scalar: the word W in "scalar #W", a comment to YAML; or NULL */
};

struct yaml_tree;

/*
 * Parses len bytes of text. Adds errors to problems; the tree then holds the valid part before
 * them, so that further errors can be found. NULL: out of memory, which problems records too. Any
 * thread.
 */
struct yaml_tree *yaml_tree_parse(const char *text, size_t len, struct problems *problems);

/* Like yaml_tree_parse() for an included file, whose number becomes part of each position. */
struct yaml_tree *yaml_tree_parse_file(const char *text, size_t len, uint16_t file,
                                       struct problems *problems);
void yaml_tree_free(struct yaml_tree *tree);

/* The document; NULL if the file has none (empty, comments only, or invalid from the start). Lives
 * as long as the tree; include.c adds nodes of other files to it. */
struct yaml_tree_node *yaml_tree_root(const struct yaml_tree *tree);

/* The value of the key in a mapping, or NULL. Also NULL if the node is not a mapping. */
const struct yaml_tree_node *yaml_tree_find(const struct yaml_tree_node *map, const char *key);

/* An empty value ("key:" and nothing after it). */
static inline bool yaml_tree_is_empty(const struct yaml_tree_node *node)
{
    return node->kind == TREE_SCALAR && node->len == 0 && !node->quoted;
}

#endif
