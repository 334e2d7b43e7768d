# Describes all processes that were started.
for q in "$d"/p-*; do [[ -d $q ]] && describe "$q"; done
say processes
