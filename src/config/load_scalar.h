/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_SCALAR_H
#define NAILUP_CONFIG_LOAD_SCALAR_H

/* Values of one word. */

#include <stdbool.h>

#include "config/loader.h"

/* Reads a word within the bounds of its row into the row's field. False after an error. */
bool load_scalar(struct loader *loader, const struct option *option,
                 const struct yaml_tree_node *node, void *owner);

/* Like load_scalar() for a value without a row or bounds. */
bool load_scalar_into(struct loader *loader, const struct yaml_tree_node *node, enum kind kind,
                      void *field);

/* Reads one of several words, for values without a row: returns its index in words, or -1 after an
 * error. */
int load_word(struct loader *loader, const struct yaml_tree_node *node, const char *words,
              const char *takes);

#endif
