/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_VIEWS_H
#define NAILUP_CONFIG_CONFIG_VIEWS_H

#include "config/loader.h"

/* Zones of all spaces of views together, inherited ones included. Each worker has routes for them.
 */
enum { VIEW_ZONES_MAX = 200000 };

/* Gives each view the settings that it inherits, and checks its zones. The file must be complete
 * and free of errors. */
void config_views_check(struct loader *loader);

/* Makes the tables of the views: prefixes, local data, routes and spaces. Reads hosts files and
 * block lists only with_files. Call it after config_local() and config_route(). */
void config_views(struct loader *loader, bool with_files);

#endif
