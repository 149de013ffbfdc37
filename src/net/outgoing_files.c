/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Access to the bound in a loop's stock (file_count.h). */

#include "net/outgoing_files.h"

#include "net/file_count.h"
#include "net/stock.h"

void outgoing_files_limit(struct loop *loop, unsigned max)
{
    struct stock *stock = stock_of(loop);

    if (stock)
        file_count_limit(stock_files(stock), max);
}
