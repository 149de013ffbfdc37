/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONFIG_CONFIG_LOCAL_H
#define NAILUP_CONFIG_CONFIG_LOCAL_H

#include <stdbool.h>

#include "config/loader.h"
#include "dns/name.h"

struct answer;

/* Makes config->local; reads hosts file and block lists only with_files. */
void config_local(struct loader *loader, bool with_files);

/* Makes the local data of a view, which is loader->config. Special-use names are left to the file,
 * unless the view does not inherit its local data. */
void config_local_of_view(struct loader *loader, bool with_files, bool inherits);

/* Whether an answer of other servers may be cached. A name of local data, or of a zone held here
 * for clients, may not: a hit would hide both. The name is in lower case. Names below a cut of such
 * a zone may not either, because its records are not known here. Any thread. */
bool config_may_cache(const struct config *config, struct name name, const struct answer *answer);

#endif
