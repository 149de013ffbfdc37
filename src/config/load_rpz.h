/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_RPZ_H
#define NAILUP_CONFIG_LOAD_RPZ_H

/* The list rpz: response policy zones as written in the file. */

#include "config/loader.h"

void load_rpz(struct loader *loader, const struct option *option,
              const struct yaml_tree_node *node);

#endif
