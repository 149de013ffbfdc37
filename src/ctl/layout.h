/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_LAYOUT_H
#define NAILUP_CTL_LAYOUT_H

/* Which columns of a table fit a width, and how wide each is. Pure. */

#include "ctl/answer.h"

enum { LAYOUT_GAP = 2 /* spaces between columns */, LAYOUT_TEXT_MIN = 8 };

/*
 * widths: the width that each column needs, or -1 for one that is not shown. Hides columns (-1) or
 * narrows text columns until a row has at most width characters. It first hides the least important
 * columns, in the order of a list in layout.c, and then narrows the longest texts, each to
 * LAYOUT_TEXT_MIN at least. Columns of other tables are narrowed only. width 0: everything fits.
 * hidden gets the columns that were hidden here, in the order of the table. Returns their number.
 */
size_t layout_fit(const struct table *table, unsigned width, int widths[CONTROL_COLUMNS_MAX],
                  size_t hidden[CONTROL_COLUMNS_MAX]);

#endif
