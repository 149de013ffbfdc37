/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/denial_types.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/type_bitmap.h"

bool denial_types_are_cut(struct span types)
{
    return type_bitmap_has(types, RRTYPE_NS) && !type_bitmap_has(types, RRTYPE_SOA);
}

bool denial_types_may_speak(struct span types, struct name zone, struct name owner,
                            struct name name, uint16_t type)
{
    bool is_apex = type_bitmap_has(types, RRTYPE_SOA);
    if (is_apex && !name_equal(owner, zone))
        return false;
    if (!name_is_below(name, owner))
        return true;
    if (name.len > owner.len)
        return !denial_types_are_cut(types) && !type_bitmap_has(types, RRTYPE_DNAME);
    if (type == RRTYPE_DS)
        return !is_apex || name_is_root(owner);
    return !denial_types_are_cut(types);
}

/* Returns whether the owner has no data: it exists for its proof only. */
static bool types_are_bare(struct span types)
{
    static const uint16_t bare[] = {RRTYPE_RRSIG, RRTYPE_NSEC, RRTYPE_NSEC3, RRTYPE_NXNAME};
    return type_bitmap_has_only(types, bare, ARRAY_LEN(bare));
}

bool denial_types_deny(struct span types, uint16_t type)
{
    if (rrtype_is_meta(type))
        return types_are_bare(types);
    bool is_beside_alias = type == RRTYPE_NSEC; /* RFC 4035 section 2.5 */
    return !type_bitmap_has(types, type) &&
           (is_beside_alias || !type_bitmap_has(types, RRTYPE_CNAME));
}

bool denial_types_deny_name(struct span types)
{
    return type_bitmap_has(types, RRTYPE_NXNAME) && types_are_bare(types);
}
