tail -n 3 .env
