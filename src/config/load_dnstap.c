/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The section dnstap: which messages, and what of it goes together. */
#include "config/loader.h"

#include <string.h>

#include "tap/dnstap.h"

/* The bit of a word; 0 after an error. */
static uint32_t load_message(struct loader *loader, const struct yaml_tree_node *item)
{
    int word = load_word(loader, item, DNSTAP_MESSAGE_WORDS,
                         "client-query, client-response, forwarder-query, forwarder-response, "
                         "resolver-query or resolver-response");
    return word < 0 ? 0 : UINT32_C(1) << word;
}

void load_dnstap_messages(struct loader *loader, const struct option *option,
                          const struct yaml_tree_node *node, uint32_t *field)
{
    size_t index = 0;
    uint32_t messages = 0;
    if (!load_list_fits(loader, option, node))
        return;
    for (const struct yaml_tree_node *item = node->first; item; item = item->next) {
        size_t mark = loader_enter_item(loader, index++);
        uint32_t bit = item->broken ? 0 : load_message(loader, item);
        if (messages & bit)
            loader_error(loader, item, "stands twice; keep one of them");
        messages |= bit;
        loader_leave(loader, mark);
    }
    *field = messages;
}

static void load_dnstap_report(struct loader *loader, const char *path, const char *sentence)
{
    size_t row = option_index(options_find(path));
    problems_add(loader->problems, loader->config->written[row], path, "%s", sentence);
}

void config_check_dnstap(struct loader *loader)
{
    const struct dnstap_options *dnstap = &loader->config->dnstap;
    if (strlen(dnstap->socket) > CONFIG_SOCKET_MAX)
        load_dnstap_report(loader, "dnstap.socket",
                           "is too long; the system takes paths of at most 107 bytes");
    if (*dnstap->socket && *dnstap->file)
        load_dnstap_report(loader, "dnstap.file", "goes not with dnstap.socket; keep one of them");
    if ((*dnstap->socket || *dnstap->file) && !dnstap_is_built_in())
        load_dnstap_report(
            loader, *dnstap->socket ? "dnstap.socket" : "dnstap.file",
            "cannot be had, as this nailupd was built without dnstap; leave it out, or build "
            "with NAILUP_DNSTAP=ON");
}
