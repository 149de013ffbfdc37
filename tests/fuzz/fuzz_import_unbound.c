/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads any bytes as an unbound.conf. The output loads, or the import reports an error. */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "config/config.h"
#include "import/import_unbound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_loads(struct span text)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    MUST(config_parse("f", (const char *)text.data, text.len, &config, &errors) == ERR_OK);
    config_free(config);
    buf_deinit(&errors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out, messages;
    buf_init(&out, IMPORT_BYTES_MAX);
    buf_init(&messages, IMPORT_MESSAGES_BYTES);
    if (import_unbound_text("f", span_of(data, size), &out, &messages) == ERR_OK)
        expect_loads(buf_span(&out));
    else
        MUST(buf_len(&messages) > 0);
    buf_deinit(&messages);
    buf_deinit(&out);
    return 0;
}
