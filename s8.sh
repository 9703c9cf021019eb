grep -rh . .
