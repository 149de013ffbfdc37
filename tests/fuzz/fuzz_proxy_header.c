/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a PROXY header. The beginning of a header is partial, and bytes after a whole
 * header change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "serve/proxy_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a copy in its own memory, so that the address sanitizer detects each read behind the bytes.
 */
static enum proxy_verdict read_copy(struct proxy_header *out, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    MUST(copy);
    if (size)
        memcpy(copy, data, size);
    enum proxy_verdict verdict = proxy_header_read(out, span_of(copy, size));
    free(copy);
    return verdict;
}

static void check_whole(const struct proxy_header *header, const uint8_t *data, size_t size)
{
    struct proxy_header again;
    MUST(header->len >= 16 && header->len <= size && header->len <= PROXY_HEADER_MAX);
    MUST(read_copy(&again, data, header->len) == PROXY_WHOLE && again.len == header->len);
    MUST(read_copy(&again, data, header->len - 1) == PROXY_PARTIAL);
    int family = addr_family(&header->client);
    if (header->is_local)
        MUST(family == AF_UNSPEC);
    else
        MUST(family == AF_INET || family == AF_INET6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_header header;
    enum proxy_verdict verdict = read_copy(&header, data, size);
    bool has_signature = proxy_header_has_signature(span_of(data, size));
    switch (verdict) {
    case PROXY_WHOLE:
        MUST(has_signature);
        check_whole(&header, data, size);
        break;
    case PROXY_PARTIAL:
        MUST(size < PROXY_HEADER_MAX);
        break;
    case PROXY_ABSENT:
        MUST(!has_signature && size > 0);
        break;
    case PROXY_MALFORMED:
        MUST(has_signature);
        break;
    }
    return 0;
}
