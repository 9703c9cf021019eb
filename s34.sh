fold -w 200 .env
