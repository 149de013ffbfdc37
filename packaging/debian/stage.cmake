# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# cpack runs this after installing into its directory and before packing it. Adds what Debian requires.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(docs ${root}/usr/share/doc/nailup)
find_program(GZIP gzip REQUIRED)

function(compress)
  execute_process(COMMAND ${GZIP} -9nf ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(GLOB_RECURSE pages ${root}/usr/share/man/*.[1-9])
compress(${pages})
configure_file(${CPACK_NAILUP_DEBIAN}/copyright ${docs}/copyright COPYONLY)
configure_file(${CPACK_NAILUP_DEBIAN}/changelog ${docs}/changelog.Debian @ONLY)
compress(${docs}/changelog.Debian)
configure_file(${CPACK_NAILUP_DEBIAN}/lintian-overrides
  ${root}/usr/share/lintian/overrides/nailup COPYONLY)

# Make all files readable for everyone, whatever the umask was.
execute_process(COMMAND chmod -R u=rwX,go=rX ${root} COMMAND_ERROR_IS_FATAL ANY)
