more .env | cat
