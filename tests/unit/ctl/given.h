/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_CTL_GIVEN_H
#define NAILUP_TESTS_CTL_GIVEN_H

#include <stdlib.h>
#include <string.h>

#include "ctl/answer.h"

/* Parses len bytes as if they had come over the socket. */
static inline enum err parse_bytes(struct parsed_reply *answer, const char *bytes, size_t len)
{
    char *text = malloc(len + 1);
    memcpy(text, bytes, len);
    return answer_parse(answer, text, len);
}

static inline enum err parse(struct parsed_reply *answer, const char *text)
{
    return parse_bytes(answer, text, strlen(text));
}

#endif
