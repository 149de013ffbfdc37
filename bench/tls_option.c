/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "tls_option.h"

#include <string.h>

#include "options.h"

bool option_tls(const char *command, int option, const char *value, struct tls_client_options *tls,
                bool *resume)
{
    switch (option) {
    case 'V':
        if (strcmp(value, "both") != 0 && strcmp(value, "1.2") != 0 && strcmp(value, "1.3") != 0)
            option_wrong(command, "--tls-version takes both, 1.2 or 1.3, not '%s'", value);
        tls->version = value[0] == 'b' ? 0 : 10 + value[2] - '0';
        return true;
    case 'R':
        if (!parse_switch(value, resume))
            option_wrong(command, "--tls-resume takes on or off, not '%s'", value);
        return true;
    case 'A':
        tls->ca_file = value;
        return true;
    case 'H':
        tls->name = value;
        return true;
    default:
        return false;
    }
}
