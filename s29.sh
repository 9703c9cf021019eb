uniq .env
