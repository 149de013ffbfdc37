/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* RFC 3629: overlong forms and surrogates are not characters. */

#include "ctl/utf8.h"

#include <stdbool.h>

int utf8_len(const unsigned char *p)
{
    int len = *p < 0x80                 ? 1
              : *p >= 0xc2 && *p < 0xe0 ? 2
              : *p >= 0xe0 && *p < 0xf0 ? 3
              : *p >= 0xf0 && *p < 0xf5 ? 4
                                        : 0;
    for (int i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, a surrogate, or beyond the last character */
    return len;
}

static bool is_control(const unsigned char *p)
{
    return *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
}

char *utf8_clean(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p;) {
        int len = utf8_len(p);
        bool plain = len > 0 && !is_control(p);
        int end = len > 0 ? len : 1;
        for (int i = 0; !plain && i < end; i++)
            p[i] = '?';
        p += end;
    }
    return text;
}
