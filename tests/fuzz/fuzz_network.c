/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a netlink datagram. No byte after it is read, and there are never more facts
 * than the datagram has room for messages.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "daemon/network_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct network_facts facts;

    network_facts_clear(&facts);
    (void)network_facts_read(&facts, span_of(data, size));
    size_t count = facts.count;
    MUST(count <= NETWORK_FACTS_MAX && count <= size / 16);
    (void)network_facts_read(&facts, span_of(data, size));
    MUST(facts.count <= size / 16);
    return 0;
}
