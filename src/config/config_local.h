/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_LOCAL_H
#define NAILUP_CONFIG_CONFIG_LOCAL_H

#include "config/loader.h"

/* Makes config->local; reads hosts file and block lists only with_files. */
void config_local(struct loader *loader, bool with_files);

/* Likewise for a view, which is loader->config. Special-use names are left to the file, unless the
 * view does not inherit its local data. */
void config_local_of_view(struct loader *loader, bool with_files, bool inherits);

#endif
