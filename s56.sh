printf '%s' "$(<.env)"
