/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_CHECK_H
#define NAILUP_CONFIG_CONFIG_CHECK_H

#include "config/loader.h"

/* Reports values that contradict each other, when everything is loaded. */
void config_check(struct loader *loader);

/* Reports such contradictions, as config_check() does, only in the zones of loader->config and
 * their upstreams. */
void config_check_zones(struct loader *loader);

#endif
