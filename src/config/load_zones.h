/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_ZONES_H
#define NAILUP_CONFIG_LOAD_ZONES_H

/* Lists of mappings with a layer: tcp-upstream-keepalive, forward-zones and stub-zones. */

#include "config/loader.h"

void load_entries(struct loader *loader, const struct option *option,
                  const struct yaml_tree_node *node);
void load_zones(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node);

/* Reports names that are in forward-zones and in stub-zones. */
void config_check_zone_names(struct loader *loader);

#endif
