/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_CHECK_WRITTEN_H
#define NAILUP_CONFIG_CONFIG_CHECK_WRITTEN_H

#include "config/loader.h"

/* Reports a file that the configuration names both to write and to read, or twice to write. */
void config_check_written(struct loader *loader);

#endif
