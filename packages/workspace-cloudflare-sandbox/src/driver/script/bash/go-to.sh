# Goes to $hx_cwd; makes the directory of the workspace, $hx_root, when nothing is in its place.
state() { if [[ -d $1 ]]; then echo directory; elif [[ -e $1 ]]; then echo file
elif [[ -L $1 ]]; then echo link; else echo missing; fi; }
cd -- "$hx_cwd" || {
[[ -e $hx_root || -L $hx_root ]] || mkdir -p -- "$hx_root"
cd -- "$hx_cwd" || say directory "$(state "$hx_cwd")" "$(state "$hx_root")"
}
