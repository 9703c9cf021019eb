dd if=.env 2>/dev/null
