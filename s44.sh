mapfile -t a < .env; printf '%s\n' "${a[@]}"
