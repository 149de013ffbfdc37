# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A signed DNS hierarchy with zones that are deliberately broken. See README.md."""
