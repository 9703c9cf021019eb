column .env
