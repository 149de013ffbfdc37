/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_CHECK_HOSTS_H
#define NAILUP_CONFIG_CONFIG_CHECK_HOSTS_H

#include "config/loader.h"

/* Adds an error for each server by name that could not be resolved: without upstream.bootstrap, it
 * needs a zone that has a server with an address, or recursion. Also one for each bootstrap server
 * that is a listener of this daemon. */
void config_check_hosts(struct loader *loader);

#endif
