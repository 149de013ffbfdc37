/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "serve/name_servers.h"

#include "resolve/resolver.h"

static void name_servers_add(struct name_servers *out)
{
    const struct delegation *cut = &out->cut;
    struct rpz_servers *servers = &out->servers;
    for (unsigned i = 0; i < cut->server_count && servers->name_count < NAME_SERVERS_MAX; i++) {
        size_t at = servers->name_count++;
        out->names[at] = name_copy(delegation_server(cut, i), out->wires[at]);
    }
    for (unsigned i = 0; i < cut->addr_count && servers->addr_count < NAME_SERVERS_ADDRS_MAX; i++)
        delegation_addr(cut, i, 0, &out->addrs[servers->addr_count++]);
}

const struct rpz_servers *name_servers_find(struct name_servers *out,
                                            const struct resolver *resolver, unsigned view,
                                            struct name name)
{
    out->servers = (struct rpz_servers){.names = out->names, .addrs = out->addrs};
    out->labels = 0;
    out->has_addrs = false;
    while (name_label_count(name) >= NAME_SERVERS_LABELS_MIN &&
           resolver_find_cut(resolver, view, name, &out->cut)) {
        unsigned labels = name_label_count(delegation_zone(&out->cut));
        if (labels < NAME_SERVERS_LABELS_MIN)
            break;
        name_servers_add(out);
        if (!out->labels) {
            out->labels = labels;
            out->has_addrs = out->cut.addr_count > 0;
        }
        name = name_parent(name_suffix(name, labels));
    }
    return out->labels ? &out->servers : NULL;
}
