/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/nsec.h"

#include "validate/type_bitmap.h"

bool nsec_read(struct nsec *out, struct name zone, struct name owner, struct span rdata)
{
    struct name next;
    size_t end = name_view(rdata, 0, &next);
    if (!end || !name_is_below(owner, zone) || !name_is_below(next, zone))
        return false;
    struct span types = span_of(rdata.data + end, rdata.len - end);
    if (!type_bitmap_is_sound(types))
        return false;
    /* Only the last record may lead back, and only to the apex, the smallest name of the zone. */
    if (!name_equal(next, zone) && name_compare(owner, next) >= 0)
        return false;
    *out = (struct nsec){.owner = owner, .next = next, .types = types};
    return true;
}

bool nsec_spans(const struct nsec *nsec, struct name zone, struct name name)
{
    if (name_compare(nsec->owner, name) >= 0)
        return false;
    return name_equal(nsec->next, zone) || name_compare(name, nsec->next) < 0;
}

bool nsec_leads_below(const struct nsec *nsec, struct name name)
{
    return nsec->next.len > name.len && name_is_below(nsec->next, name);
}
