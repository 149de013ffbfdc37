/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any bytes as a message with a name at the offset in the first two bytes, and as text. The
 * readers must agree, and a name must survive the conversion to text.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "dns/case_bits.h"
#include "dns/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct name name)
{
    char text[NAME_TEXT_MAX];
    uint8_t wire[NAME_WIRE_MAX];
    struct name back;
    size_t len = __builtin_strlen(name_format(name, text));
    MUST(name_parse(&back, wire, text, len) == ERR_OK);
    MUST(name_equal_exact(back, name));
}

static void check_parts(struct name name)
{
    unsigned labels = name_label_count(name);
    MUST(labels <= NAME_LABELS_MAX);
    MUST(name_is_root(name_strip(name, labels)));
    for (struct name parent = name; !name_is_root(parent); parent = name_parent(parent))
        MUST(name_is_below(name, parent));
    MUST(name_common_labels(name, name) == labels && name_compare(name, name) == 0);
}

static void check_case(struct name name, const uint8_t *bits)
{
    uint8_t folded_wire[NAME_WIRE_MAX], wire[NAME_WIRE_MAX];
    struct name folded = name_fold(name, folded_wire);
    MUST(name_equal(name, folded) && name_hash(name, 1) == name_hash(folded, 1));
    struct name copy = name_copy(name, wire);
    case_randomise(wire, copy.len, bits);
    MUST(name_equal(copy, name) && name_compare(copy, name) == 0);
    MUST(case_letters(copy) == case_letters(name));
}

static void check_message(struct span message, size_t offset)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name, view;
    size_t after = name_read(message, offset, wire, &name);
    MUST(name_skip(message, offset) == after);
    if (name_view(message, offset, &view))
        MUST(after && name_equal_exact(view, name));
    if (!after)
        return;
    MUST(after <= message.len && after > offset);
    MUST(name_equal_in_message(message, offset, name));
    check_text(name);
    check_parts(name);
    static const uint8_t zeros[CASE_BITS_MAX];
    check_case(name, message.len >= CASE_BITS_MAX ? message.data : zeros);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    if (name_parse(&name, wire, (const char *)data, size) == ERR_OK)
        check_text(name);
    if (size > 2 && size < 65536)
        check_message(span_of(data + 2, size - 2), get_u16(data));
    return 0;
}
