/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_ANCHORS_H
#define NAILUP_CONFIG_CONFIG_ANCHORS_H

/* The trust anchors of a configuration. Internal to config. */

#include <stdbool.h>

#include "config/loader.h"

/* Reads the records of dnssec.trust-anchors into the table. */
void load_anchors(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node);

/* Reads the file of dnssec.trust-anchor-file into the table. */
void config_read_anchor_file(struct loader *loader);

/* Warns of anchors that have no effect. */
void config_warn_of_anchors(struct loader *loader);

/* Completes the table: the built-in anchors of the root, if no other is given, and the negative
 * ones. False: out of memory, which problems records. */
bool config_anchors(struct loader *loader);

#endif
