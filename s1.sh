head -5 .env
