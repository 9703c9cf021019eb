tr -d '\r' < .env
