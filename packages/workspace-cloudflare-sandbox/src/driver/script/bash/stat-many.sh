# Describes several paths, links not followed: a line `MODE SIZE TIME INODE CHANGE` each, or `-` for what
# is missing, or a link. In: the array paths.
one() (
  say() { exit 1; }
  at "$1"; follow; present
  exec stat --printf '%f %s %.9Y %i %.9Z\n' -- "./$b"
)
for f in "${paths[@]}"; do one "$f" 2>/dev/null || echo -; done
say stats
