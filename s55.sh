cat .env | tail -1
