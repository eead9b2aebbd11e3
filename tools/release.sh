#!/bin/sh
# Prepares a release: sets the version in both pyproject.toml and CITATION.cff, dates the changelog, builds and tests the
# packages (tools/packages.sh), commits and tags. Run by `make release VERSION=0.1.0`. Uploads nothing, but prints the
# commands that do.
#
#   $1             the version, such as 0.1.0
#   PACKAGES_TEST  program that tests the packages   (default: tools/packages.sh)
set -eu

cd "$(dirname "$0")/.."
version=${1:-}

die() { printf 'release: %s\n' "$*" >&2; exit 1; }

printf '%s' "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' || die "found version '$version'; accepted: such as 0.1.0"
[ -z "$(git status --porcelain)" ] || die "there are uncommitted changes; commit them first"
! git rev-parse -q --verify "refs/tags/v$version" > /dev/null || die "the tag v$version exists already"
grep -q '^## \[Unreleased\]$' CHANGELOG.md || die "CHANGELOG.md has no section [Unreleased]"

sed -i "s/^version = \".*\"$/version = \"$version\"/; s/^\(  \"entrolearn\[.*\]==\).*\",$/\1$version\",/" \
    pyproject.toml src/entrolab/pyproject.toml
sed -i "s/^version: .*/version: $version/" CITATION.cff
sed -i "s/^## \[Unreleased\]$/## [Unreleased]\n\n## [$version] - $(date -u +%Y-%m-%d)/" CHANGELOG.md

"${PACKAGES_TEST:-tools/packages.sh}" || die "the packages do not work; \`git checkout .\` takes the version back"
git commit --quiet --all --message "Release $version"
git tag --annotate "v$version" --message "Version $version"
echo "release: v$version is committed and tagged. To publish it:"
echo "    git push origin main v$version"
echo "    .packages/tools/bin/twine upload dist/*"
