/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_LOAD_VIEWS_H
#define NAILUP_CONFIG_LOAD_VIEWS_H

#include "config/loader.h"

/* Reads the list of views as written in the file. */
void load_views(struct loader *loader, const struct option *option,
                const struct yaml_tree_node *node);

/* Frees what the views own. */
void load_views_free(struct config *config);

#endif
