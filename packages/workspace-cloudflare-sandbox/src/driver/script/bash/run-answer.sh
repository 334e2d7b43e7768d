# Answers with head and tail of the outputs. In: $r, the exit code; $t: it ran out of time; $t0: when it
# began; $hx_most bytes of each output; $hx_spill: directory for longer ones; $n; $hx_live.
answer() {
  local whole=$hx_spill/${k##*/}-$n notes t1
  emit "$o" "$or" "$hx_most" "$whole.stdout"; notes=$note
  emit "$e" "$er" "$hx_most" "$whole.stderr"; notes="$notes $note"
  [[ $hx_channel ]] && { emit "$v" "$vr" "$hx_channel" ''; notes="$notes $note"; }
  [[ $hx_live ]] && rm -f -- "$o" "$e" "$v" "$k.a" "$k.p"
  t1=$EPOCHREALTIME
  say ended "$r" "$t" "$(( (${t1/[.,]/} - ${t0/[.,]/}) / 1000 ))" "${epoch:--}" "$notes"
}
