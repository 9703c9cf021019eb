strings .env
