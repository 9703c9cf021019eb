cat .env; false
