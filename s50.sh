expand .env
