#!/bin/sh
# Written by `govforge hook install pre-push`; running it again writes this file anew.
# Lets commits out only if a person approved exactly their diff. A hook that was here before
# is kept beside this one as pre-push.before-govforge, and runs first.

govforge=@GOVFORGE@
[ -x "$govforge" ] || govforge=govforge
pushed=$(cat)
before="$(dirname "$0")/pre-push.before-govforge"
if [ -x "$before" ]; then
    printf '%s\n' "$pushed" | "$before" "$@" || exit
fi

status=0
while read -r _local new _remote old; do
    # Only zeros: a branch is deleted.
    case $new in *[!0]*) ;; *) continue ;; esac
    git cat-file -e "$old" 2>/dev/null || old=
    # shellcheck disable=SC2086
    commits=$(git rev-list --reverse "$new" --not --remotes="$1" $old) || exit 1
    for commit in $commits; do
        "$govforge" gate "$commit" >/dev/null || status=1
    done
done <<PUSHED
$pushed
PUSHED
exit "$status"
