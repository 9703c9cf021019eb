od -c .env | head -2; cat .env
