/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_IMPORT_UNBOUND_WORDS_H
#define NAILUP_IMPORT_UNBOUND_WORDS_H

/* The rows of unbound_words.def as a table. */

#include <stddef.h>

#include "base/span.h"

enum unbound_clause {
    UNBOUND_NO_CLAUSE,
#define CLAUSE(id, name) UNBOUND_CLAUSE_##id,
#include "import/unbound_words.def"
    UNBOUND_CLAUSES
};

/* The conversions of options. */
#define UNBOUND_MAPS(MAP)                                                                          \
    MAP(none)                                                                                      \
    MAP(weaker)                                                                                    \
    MAP(flag)                                                                                      \
    MAP(number)                                                                                    \
    MAP(seconds)                                                                                   \
    MAP(millis)                                                                                    \
    MAP(text)                                                                                      \
    MAP(file)                                                                                      \
    MAP(keepalive)                                                                                 \
    MAP(port)                                                                                      \
    MAP(interface)                                                                                 \
    MAP(interface_automatic)                                                                       \
    MAP(family)                                                                                    \
    MAP(protocol)                                                                                  \
    MAP(ciphers)                                                                                   \
    MAP(incoming_tcp)                                                                              \
    MAP(identity)                                                                                  \
    MAP(hide)                                                                                      \
    MAP(log_queries)                                                                               \
    MAP(access)                                                                                    \
    MAP(cache_size)                                                                                \
    MAP(serve_expired)                                                                             \
    MAP(outgoing)                                                                                  \
    MAP(item)                                                                                      \
    MAP(prefer)                                                                                    \
    MAP(do_not_query)                                                                              \
    MAP(not_localhost)                                                                             \
    MAP(tcp_upstream)                                                                              \
    MAP(tls_upstream)                                                                              \
    MAP(modules)                                                                                   \
    MAP(permissive)                                                                                \
    MAP(dns64_prefix)                                                                              \
    MAP(dns64_all)                                                                                 \
    MAP(anchor)                                                                                    \
    MAP(anchor_file)                                                                               \
    MAP(local_zone)                                                                                \
    MAP(local_data)                                                                                \
    MAP(local_data_ptr)                                                                            \
    MAP(unblock_lan)                                                                               \
    MAP(verbosity)                                                                                 \
    MAP(directory)                                                                                 \
    MAP(zone_name)                                                                                 \
    MAP(zone_addr)                                                                                 \
    MAP(zone_host)                                                                                 \
    MAP(zone_first)                                                                                \
    MAP(zone_no_cache)                                                                             \
    MAP(zone_tls)                                                                                  \
    MAP(zone_tcp)                                                                                  \
    MAP(zone_fallback)                                                                             \
    MAP(rpz_name)                                                                                  \
    MAP(rpz_file)                                                                                  \
    MAP(rpz_primary)                                                                               \
    MAP(rpz_url)                                                                                   \
    MAP(rpz_notify)                                                                                \
    MAP(rpz_key)                                                                                   \
    MAP(view_name)                                                                                 \
    MAP(view_first)                                                                                \
    MAP(access_view)                                                                               \
    MAP(define_tag)                                                                                \
    MAP(access_tag)                                                                                \
    MAP(zone_tag)                                                                                  \
    MAP(rpz_tags)                                                                                  \
    MAP(zone_file)                                                                                 \
    MAP(zone_url)                                                                                  \
    MAP(zone_notify)                                                                               \
    MAP(zone_downstream)                                                                           \
    MAP(zone_upstream)                                                                             \
    MAP(zone_zonemd)                                                                               \
    MAP(zone_zonemd_absence)                                                                       \
    MAP(dnstap_enable)                                                                             \
    MAP(dnstap_text)                                                                               \
    MAP(dnstap_messages)                                                                           \
    MAP(control_enable)

enum unbound_map {
#define MAP(name) UNBOUND_MAP_##name,
    UNBOUND_MAPS(MAP)
#undef MAP
        UNBOUND_MAP_COUNT
};

struct unbound_word {
    enum unbound_clause clause;
    const char *name;
    size_t args;
    enum unbound_map map;
    const char *path; /* a path of options.def, or "" */
    const char *note;
};

/* The option of the clause with this name, or NULL. */
const struct unbound_word *unbound_word_find(enum unbound_clause clause, struct span name);

/* The clause with this name, or UNBOUND_NO_CLAUSE. */
enum unbound_clause unbound_clause_find(struct span name);

/* The name of the clause, such as "server". */
const char *unbound_clause_name(enum unbound_clause clause);

/* The first clause that has such an option, or UNBOUND_NO_CLAUSE. */
enum unbound_clause unbound_word_home(struct span name);

#endif
