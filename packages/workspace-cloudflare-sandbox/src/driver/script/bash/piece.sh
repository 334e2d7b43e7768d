# `piece FILE OFFSET` prints a part of a file, in base64.
piece() { [[ -f $1 ]] && tail -c "+$(($2 + 1))" -- "$1" | head -c "$piece" | base64 -w0; }
