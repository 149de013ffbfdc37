/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_AUTH_ZONES_H
#define NAILUP_CONFIG_LOAD_AUTH_ZONES_H

/* The list auth-zones: mappings with their own keys. The daemon reads the files, not the loader,
 * because they may be large and change on their own. */

#include "config/loader.h"

void load_auth_zones(struct loader *loader, const struct option *option,
                     const struct yaml_tree_node *node);

/* Adds the zone of local-root to the list, if local-root is yes and the daemon recurses. Call it
 * when the whole file is loaded. */
void load_local_root(struct loader *loader);

#endif
