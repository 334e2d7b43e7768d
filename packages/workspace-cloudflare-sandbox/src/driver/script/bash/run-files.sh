# The files of one call of a command. In: $d, the scratch directory; $hx_slot, start of their names;
# $hx_channel: most bytes of descriptor 3, empty without it.
k=$d/$hx_slot o=$d/$hx_slot.o e=$d/$hx_slot.e v=$d/$hx_slot.v
# A command may remove its own outputs: what it prints is still there for who has them open.
open_readers() {
  exec {or}<"$o"; exec {er}<"$e"
  [[ $hx_channel ]] && exec {vr}<"$v"
}
