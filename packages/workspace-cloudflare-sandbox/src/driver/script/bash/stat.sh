# Describes what a path leads to. In: $path.
at "$path"; follow; present; ok "$b"
