/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads any bytes as the options of an OPT record, alone and inside a message. */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/edns.h"
#include "dns/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_found(const struct edns *edns, struct span options)
{
    struct edns_cookie cookie;
    struct edns_keepalive keepalive;
    struct edns_ede ede;
    if (edns_find_cookie(edns, &cookie) == EDNS_FOUND) {
        MUST(cookie.client.len == EDNS_COOKIE_CLIENT);
        MUST(cookie.server.len <= EDNS_COOKIE_SERVER_MAX);
        MUST(cookie.client.data >= options.data);
        MUST(cookie.server.data + cookie.server.len <= options.data + options.len);
    }
    (void)edns_find_keepalive(edns, &keepalive);
    if (edns_find_ede(edns, &ede) == EDNS_FOUND)
        MUST(ede.text.len <= options.len && edns_ede_name(ede.code));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[MESSAGE_MAX];
    struct span options = span_of(data, size);
    struct edns edns = {.present = true, .options = options};
    bool is_sound = edns_options_check(options);
    check_found(&edns, options);

    struct build build;
    build_init(&build, out, sizeof(out));
    build_header(&build, 1, 0);
    build_opt_begin(&build, 1232, 0, 0, true);
    build_bytes(&build, data, size);
    build_opt_end(&build);
    size_t len = build_finish(&build);
    struct message message;
    if (len)
        MUST((message_parse(&message, span_of(out, len)) == MESSAGE_OK) == is_sound);
    return 0;
}
