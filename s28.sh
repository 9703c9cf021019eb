sort .env
