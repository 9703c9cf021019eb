sed -n p .env
