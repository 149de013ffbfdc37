/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_LOCAL_H
#define NAILUP_CONFIG_LOAD_LOCAL_H

/* Lists of local data: local-zones, local-data and block-lists. */

#include "config/loader.h"

void load_local_zones(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node);
void load_records(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node);
void load_block_lists(struct loader *loader, const struct option *option,
                      const struct yaml_tree_node *node);
void load_redirect(struct loader *loader, const struct option *option,
                   const struct yaml_tree_node *node, struct config_block_list *list);

#endif
