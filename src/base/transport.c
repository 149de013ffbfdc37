/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The table of transport.h as data. */

#include "base/transport.h"

const struct transport_row transport_rows[] = {
#define TRANSPORT(name, text, number, protocol, stream, secure, fall_back)                         \
    [TRANSPORT_##name] = {.word = (text),                                                          \
                          .alpn = (protocol),                                                      \
                          .port = (number),                                                        \
                          .is_stream = (stream),                                                   \
                          .is_secure = (secure),                                                   \
                          .can_fall_back = (fall_back)},
    TRANSPORTS(TRANSPORT)
#undef TRANSPORT
};
