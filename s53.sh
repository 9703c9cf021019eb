python3 - < .env
