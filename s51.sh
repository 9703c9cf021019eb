less .env | cat
