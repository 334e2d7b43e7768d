# Measures a directory: members, bytes of its files, inodes of its members, and where it is when no
# link is followed. Names that are hard links share an inode. In: $directory.
root "$directory"
cd -P -- "$directory" || fail not-found
members=0 bytes=0
while read -r size kind; do
  ((members += 1)); [[ $kind == f ]] && ((bytes += size))
done < <(find . -mindepth 1 -printf '%s %y\n')
links() { find . -mindepth 1 ! -type d -links +1 -printf "$1"; }
inodes=$((members - $(links x | wc -c) + $(links '%D:%i\n' | sort -u | wc -l)))
printf %s "$PWD" | base64 -w0
say measured "$members" "$bytes" "$inodes"
