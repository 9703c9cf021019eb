timeout 5 cat .env
