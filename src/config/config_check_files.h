/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_CHECK_FILES_H
#define NAILUP_CONFIG_CONFIG_CHECK_FILES_H

#include "config/loader.h"

/* Checks the files that the configuration names: reports certificates, keys and ciphers that cannot
 * be used, and reads root hints, cookie secrets and accounts. */
void config_check_files(struct loader *loader);

/* Checks only the files that the zones of loader->config name. */
void config_check_files_zones(struct loader *loader);

#endif
