/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/fault.h"

#include "dns/edns.h"

uint16_t fault_ede(enum fault fault)
{
    static const uint16_t codes[] = {
#define FAULT(name, ede, words) [FAULT_##name] = ede,
        FAULTS(FAULT)
#undef FAULT
    };
    return codes[fault];
}

const char *fault_words(enum fault fault)
{
    static const char *const words_of[] = {
#define FAULT(name, ede, words) [FAULT_##name] = words,
        FAULTS(FAULT)
#undef FAULT
    };
    return words_of[fault];
}
