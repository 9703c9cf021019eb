bash .env
