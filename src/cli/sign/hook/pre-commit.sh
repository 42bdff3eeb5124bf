#!/bin/sh
# Written by `govforge hook install pre-commit`; running it again writes this file anew.
# Lets only a staged change be committed that has the diff of an approved decision. A hook that
# was here before is kept beside this one as pre-commit.before-govforge, and runs first.

govforge=@GOVFORGE@
[ -x "$govforge" ] || govforge=govforge
before="$(dirname "$0")/pre-commit.before-govforge"
if [ -x "$before" ]; then
    "$before" "$@" || exit
fi

# The commit as it would be, in no branch: its diff is what the gate judges.
tree=$(git write-tree) || exit 1
if head=$(git rev-parse --quiet --verify HEAD); then
    set -- -p "$head"
else
    set --
fi
commit=$(git commit-tree "$tree" "$@" -m "What is about to be committed") || exit 1
exec "$govforge" gate "$commit" >/dev/null
