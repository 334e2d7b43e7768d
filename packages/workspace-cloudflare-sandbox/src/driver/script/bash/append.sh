# Adds to the end of a file. In: $path, the content of $added bytes; $most bytes of the file then, empty
# without limit.
at "$path" make; follow
[[ -d ./$b ]] && fail is-directory
[[ -e ./$b && ! -f ./$b ]] && fail special
take_turn
if [[ $most ]]; then
  old=0
  if exists; then old=$(stat -L -c %s -- "./$b") || fail system; fi
  ((old + added > most)) && fail too-large
fi
case $kind in
  text) printf %s "$content" >>"./$b" || fail system ;;
  base64) base64 -d <<<"$content" >>"./$b" || fail system ;;
  *)
    await
    cat -- "$staged" >>"./$b" || fail system
    rm -f -- "$staged"
    ;;
esac
ok "$b"
