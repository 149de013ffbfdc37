# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
"""A DNS hierarchy of real servers on loopback, and its right answers. See README.md."""
