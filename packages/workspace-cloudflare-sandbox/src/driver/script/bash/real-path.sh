# Answers with a path relative to the workspace, links followed, whatever of it is missing.
# In: $path; $last: a link at the end is followed as well.
root "$path"
l=
[[ $last ]] || { l=${rest##*/}; rest=${rest%"$l"}; }
p=$(realpath -m -- "./$rest"; echo /); p=${p%$'\n'/}${l:+/$l}
[[ $p == "$top" || $p == "$top"/* ]] || fail escape
[[ $last && -L $p ]] && fail not-found
p=${p#"$top"}; printf %s "${p#/}" | base64 -w0
say path
