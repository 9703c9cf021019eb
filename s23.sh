cat .env.bak
