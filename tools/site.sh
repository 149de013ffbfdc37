#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SPDX-FileCopyrightText: 2026 the nailup authors
#
# Makes a web site of the documentation: the pages in reading order, and the manuals.
# Usage: tools/site.sh FOLDER [BUILD]
#   FOLDER  the site; it must not exist yet
#   BUILD   the build whose manuals are used (build/release)
# Needs the packages mkdocs and mandoc.
set -eu
case $# in
1 | 2) ;;
*) sed -n '/^# Usage/,/^# Needs/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
site=$1
root=$(cd "$(dirname "$0")/.." && pwd)
manuals=${2:-$root/build/release}/man
[ ! -e "$site" ] || { echo "$0: $site exists already" >&2; exit 1; }
[ -d "$manuals" ] || { echo "$0: $manuals does not exist: build first, with tools/setup.sh build release" >&2; exit 1; }
for program in mkdocs mandoc; do
    command -v $program >/dev/null || { echo "$0: install the package $program" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$work/pages
mkdir -p "$pages/reference"

# The pages keep their places, so that their links lead where they lead in the source.
(cd "$root" && git ls-files '*.md' 'bench/results/*.svg' 'docs/*.svg' conf packaging | grep -v '/corpus/' |
    tar -cf - -T -) | tar -xf - -C "$pages"

nav=$work/nav
for file in "$manuals"/*.[1-8] "$root"/man/*.[1-8]; do
    [ -f "$file" ] || continue
    name=$(basename "$file")
    mandoc -T markdown "$file" >"$pages/reference/$name.md"
    echo "      - \"${name%.*}(${name##*.})\": \"reference/$name.md\"" >>"$nav"
done
sort -u -o "$nav" "$nav"

{
    cat <<'END'
site_name: nailup
theme: {name: readthedocs, highlightjs: false}
docs_dir: pages
use_directory_urls: false
markdown_extensions: [tables, fenced_code, {toc: {permalink: true}}]
nav:
  - nailup: README.md
  - Documentation: docs/README.md
  - Tutorials:
      - In a datacenter: docs/tutorial-datacenter.md
      - On a host: docs/tutorial-host.md
      - For benchmarks: docs/tutorial-benchmark.md
  - How-to:
      - Operating nailupd: docs/operating.md
      - Upgrading: docs/upgrading.md
      - The resolver of a host: docs/host.md
      - A fleet of resolvers: docs/fleet.md
      - A test harness: docs/harness.md
  - Explanation:
      - How nailing works: docs/nailing.md
      - The map of the source: src/README.md
      - The method of the figures: bench/README.md
  - Reference:
END
    cat "$nav"
    cat <<'END'
      - Features compared with other resolvers: docs/compared.md
      - Glossary: docs/glossary.md
      - Results: bench/results/README.md
      - Changes: CHANGELOG.md
      - Contributing: CONTRIBUTING.md
      - Security: SECURITY.md
END
} >"$work/mkdocs.yml"

mkdocs build --quiet --config-file "$work/mkdocs.yml" --site-dir "$work/site"
mkdir -p "$(dirname "$site")"
mv "$work/site" "$site"
echo "$site/index.html"
