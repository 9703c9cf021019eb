grep . .env
