nl .env
