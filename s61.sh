cat .env .env .env
