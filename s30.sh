cut -d= -f2 .env
